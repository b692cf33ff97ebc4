// Forms that tools/check_coroutines lets pass. Read by tests/tools/test_checkers.py, never
// compiled.

Task<void> names_and_calls_in_the_call(S& s) {
  Options how{a, b};
  Result<Fd> fd = co_await dial(s, std::move(how));
  co_await g(s.a(), *b, c->d[0], e + 1);
}

Task<int> an_await_after_a_block(S& s) {
  if (s.a) {
    s.b = {1};
  }
  *s.c = co_await g(s);
  co_return 1;
}

Task<int> an_await_after_a_plain_lambda(S& s) {
  auto h = [&](int a) {
    char text[10];
    return a ? use(text) : 2;
  };
  int x = co_await g(s, h);
  co_return x;
}

Task<int> awaits_in_conditions_and_behind_them(S& s) {
  while (!co_await g(s)) {
    S t{1};
  }
  if (s.bad) co_await refuse(s, s.error);
  for (int i = f(A{1}); co_await g(s); ++i) co_await h(s);
  if (s.worse) {
    b{};
  } else {
    co_await g(s);
  }
  co_return 1;
}

Task<void> an_await_behind_case(S& s) {
  switch (s.kind ? 1 : 2) {
    case 1:
      co_await g(s);
      break;
    default: {
      Error e{1};
      co_await h(s, e);
    }
  }
}

Task<Error> braces_in_what_is_returned() {
  co_await g();
  co_return Error{1, 2};
}

void arrays_in_a_plain_function() {
  char a[10];
  std::array<int, 3> b;
}

Task<void> an_array_that_is_static() {
  static constexpr char a[] = {1};
  co_await g(a);
}

struct WithAnArray {
  char a[10];
  Task<void> f() { co_await g(); }
};

Task<void> indices(S& s) {
  s.a[1] = 2;
  delete[] s.b;
  if (s.a[0] == 1) co_await g(s.a[i]);
}

auto a_lambda_without_captures = [](S& s) -> Task<void> { co_await g(s); };

// Words in comments and literals: co_await g({1}) ? [x] {
const char* text = "co_await g({1})";
const char* raw = R"x(co_await g({1}) } )x";
const char brace = '{';
const int thousand = 1'000;

struct Awaiter {
  void await_suspend(std::coroutine_handle<> h);
  bool await_suspend(H h) noexcept;
};
