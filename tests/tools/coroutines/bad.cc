// Forms that tools/check_coroutines refuses, each on the line that says so and in those words. Read
// by tests/tools/test_checkers.py, never compiled.

Task<R> braces(S& s) {
  Result<Fd> fd = co_await dial(s, {a, b});  // refused: brace
  co_await dial(s, Options{a});              // refused: brace
  co_await dial(s,                           // refused: brace
                Options{a});
  if (co_await g(s, {})) {  // refused: brace
  }
  use(Options{1}, co_await g(s));  // refused: brace
  co_return R{co_await g(s)};      // refused: brace
}

Task<int> other_temporaries(S& s) {
  co_await g(s, [](int a) { return a; });     // refused: lambda
  co_await g(s, a ? b : c);                   // refused: ?:
  int x = a ? co_await g(s) : 0;              // refused: ?:
  co_await g(s, std::function<void()>(h));    // refused: std::function
  if (s.a) co_await g(s, s.b ? s.c : s.d);    // refused: ?:
  for (int i = 0; co_await g(s, b ? c : d);)  // refused: ?:
    ++x;
  co_return x;
}

Task<void> structured_bindings(S& s) {
  auto [a, b] = co_await both(s);         // refused: structured binding
  const auto& [c, d] = co_await both(s);  // refused: structured binding
}

auto a_capturing_lambda = [&s](int a) -> Task<void> {  // refused: captures
  co_await g(s);
};

void runs_a_capturing_lambda() {
  run([this] {  // refused: captures
    co_return;
  });
}

Task<int> arrays(S& s) {
  char buffer[512];                // refused: 'buffer'
  const uint8_t reply[] = {1, 2};  // refused: 'reply'
  std::array<uint8_t, 16> key{};   // refused: 'key'
  for (int i = 0; i < 2; ++i) {
    unsigned char block[4] = {};  // refused: 'block'
    co_await g(s);
  }
  co_return 1;
}

Task<int> an_array_where_nothing_is_awaited() {
  int a[2];  // refused: 'a'
  co_return 1;
}

struct AnAwaiterThatHandsOver {
  std::coroutine_handle<> await_suspend(H h);  // refused: await_suspend
};
