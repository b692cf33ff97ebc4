// A doubly linked list through its members: no allocation, and a member leaves in constant time
// from wherever it is known. The list owns nothing; a member that dies leaves by itself.
#pragma once

#include "base/check.h"

namespace headrace {

class ListNode {
 public:
  ListNode() = default;
  ListNode(const ListNode&) = delete;
  ListNode& operator=(const ListNode&) = delete;
  ~ListNode() { unlink(); }

  bool linked() const { return next_ != nullptr; }
  void unlink() {
    if (!next_) return;
    previous_->next_ = next_;
    next_->previous_ = previous_;
    next_ = previous_ = nullptr;
  }

 private:
  template <class T, class Tag>
  friend class List;
  ListNode* previous_ = nullptr;
  ListNode* next_ = nullptr;
};

// One object can be in several lists: it derives from Linked<Tag> once per kind of list.
template <class Tag>
class Linked : public ListNode {};

template <class T, class Tag>
class List {
 public:
  List() { head_.previous_ = head_.next_ = &head_; }
  ~List() {
    clear();
    head_.previous_ = head_.next_ = nullptr;
  }
  List(const List&) = delete;
  List& operator=(const List&) = delete;

  bool empty() const { return head_.next_ == &head_; }
  T& front() { return object(head_.next_); }
  T& back() { return object(head_.previous_); }

  void push_back(T& member) { insert_before(&head_, node(member)); }
  void push_front(T& member) { insert_before(head_.next_, node(member)); }
  // Behind the last member that `in_order(member, newcomer)`; cheap where that is near the end.
  template <class InOrder>
  void insert_sorted_from_back(T& newcomer, InOrder in_order) {
    ListNode* before = head_.previous_;
    while (before != &head_ && !in_order(object(before), newcomer)) before = before->previous_;
    insert_before(before->next_, node(newcomer));
  }
  T& pop_front() {
    HEADRACE_ASSERT(!empty());
    T& member = front();
    node(member)->unlink();
    return member;
  }
  static void remove(T& member) { node(member)->unlink(); }
  void clear() {
    while (!empty()) head_.next_->unlink();
  }
  // Moves all members of `other` to the end of this list.
  void take_all(List& other) {
    while (!other.empty()) push_back(other.pop_front());
  }

  class Iterator {
   public:
    explicit Iterator(ListNode* at) : at_(at) {}
    T& operator*() const { return object(at_); }
    Iterator& operator++() {
      at_ = at_->next_;
      return *this;
    }
    bool operator!=(const Iterator& other) const { return at_ != other.at_; }

   private:
    ListNode* at_;
  };
  Iterator begin() { return Iterator(head_.next_); }
  Iterator end() { return Iterator(&head_); }

 private:
  static ListNode* node(T& member) { return static_cast<Linked<Tag>*>(&member); }
  static T& object(ListNode* node) { return static_cast<T&>(static_cast<Linked<Tag>&>(*node)); }
  static void insert_before(ListNode* where, ListNode* node) {
    HEADRACE_ASSERT(!node->linked());
    node->next_ = where;
    node->previous_ = where->previous_;
    where->previous_->next_ = node;
    where->previous_ = node;
  }

  ListNode head_;
};

}  // namespace headrace
