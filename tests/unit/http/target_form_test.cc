#include "http/target_form.h"

#include <gtest/gtest.h>

#include <string>

#include "heads.h"

namespace headrace::http {
namespace {

std::string described(const RequestTarget& target) {
  std::string origin_form;
  target.append_origin_form(origin_form);
  switch (target.form) {
    case RequestTarget::Form::absolute: {
      std::string host;
      target.append_host(host);
      return target.target.to_string() + " " + origin_form + " Host: " + host;
    }
    case RequestTarget::Form::authority:
      return "tunnel to " + target.target.to_string();
    case RequestTarget::Form::origin:
      return "origin " + origin_form;
    case RequestTarget::Form::asterisk:
      return "asterisk";
  }
  return {};
}

std::string wanted_by(std::string_view bytes) {
  RequestHead head = head_of<RequestHead>(bytes);
  Result<RequestTarget> target = request_target(head);
  if (target) return described(*target);
  EXPECT_EQ(target.error().whose, Side::client);
  return std::string(name_of(target.error().what));
}

std::string wanted(std::string_view method, std::string_view target) {
  return wanted_by(std::string(method) + " " + std::string(target) +
                   " HTTP/1.1\r\nHost: h.test\r\n\r\n");
}

TEST(target_form, B041_an_empty_path_becomes_a_slash_in_front_of_the_query) {
  EXPECT_EQ(wanted("GET", "http://o.example.test?x=1"),
            "o.example.test:80 /?x=1 Host: o.example.test");
  EXPECT_EQ(wanted("GET", "http://o.example.test:80?x=1"),
            "o.example.test:80 /?x=1 Host: o.example.test");
  EXPECT_EQ(wanted("GET", "http://o.example.test"), "o.example.test:80 / Host: o.example.test");
  EXPECT_EQ(wanted("GET", "http://o.example.test?a/b:c@d"),
            "o.example.test:80 /?a/b:c@d Host: o.example.test");
}

TEST(target_form, B043_user_information_is_refused) {
  for (std::string_view target :
       {"http://user:pw@o.example.test/p", "http://allowed.example.test@denied.example.test/",
        "http://a@b@o.example.test/", "http://@o.example.test/", "http://user@127.0.0.1:80/",
        "http://o.example.test:80@denied.example.test/"})
    EXPECT_EQ(wanted("GET", target), "malformed") << target;
}

TEST(target_form, B045_the_target_decides_and_a_differing_Host_is_ignored) {
  EXPECT_EQ(wanted_by("GET http://a.example.test/ HTTP/1.1\r\nHost: b.example.test\r\n\r\n"),
            "a.example.test:80 / Host: a.example.test");
  EXPECT_EQ(wanted_by("GET http://a.example.test/ HTTP/1.0\r\n\r\n"),
            "a.example.test:80 / Host: a.example.test");
  EXPECT_EQ(wanted_by("GET http://a.example.test:8080/ HTTP/1.0\r\n\r\n"),
            "a.example.test:8080 / Host: a.example.test:8080");
  EXPECT_EQ(wanted_by("GET http://[2001:db8::1]/ HTTP/1.0\r\n\r\n"),
            "[2001:db8::1]:80 / Host: [2001:db8::1]");
}

TEST(target_form, B047_other_schemes_are_told_apart) {
  for (std::string_view target : {"https://o.example.test/", "HTTPS://o.example.test/",
                                  "ftp://o.example.test/", "gopher://o.example.test/",
                                  "file:///etc/passwd", "ws://o.example.test/", "httpx://o.test/"})
    EXPECT_EQ(wanted("GET", target), "unsupported") << target;
  for (std::string_view target :
       {"urn:x:y", "http:/o.example.test/", "http:o.example.test", "://o.example.test/",
        "1http://o.example.test/", "ht_tp://o.example.test/", "mailto:a@b"})
    EXPECT_EQ(wanted("GET", target), "malformed") << target;
}

TEST(target_form, B049_scheme_and_host_compare_without_case_or_trailing_dot) {
  for (std::string_view target : {"HTTP://O.EXAMPLE.TEST/", "http://o.example.test./",
                                  "http://o.example.test:80/", "hTTp://O.Example.Test.:80/"})
    EXPECT_EQ(wanted("GET", target), "o.example.test:80 / Host: o.example.test") << target;
  EXPECT_EQ(wanted("CONNECT", "O.Example.Test.:443"), "tunnel to o.example.test:443");
}

TEST(target_form, B051_path_and_query_pass_byte_for_byte) {
  const std::string path =
      "/a//b/../%2e%2e/%2F;p=1?q=%0d%0a&r=\"x\"|y\\^`{}<>?/?" + std::string(8192, 'q');
  EXPECT_EQ(wanted("GET", "http://o.test" + path), "o.test:80 " + path + " Host: o.test");
  EXPECT_EQ(wanted("GET", "http://o.test/\xc3\xa4?\xff"), "o.test:80 /\xc3\xa4?\xff Host: o.test");
  EXPECT_EQ(wanted("GET", "http://o.test//o2.test/"), "o.test:80 //o2.test/ Host: o.test");
}

TEST(target_form, B031_IPv6_literals_are_bracketed_and_have_no_zone) {
  EXPECT_EQ(wanted("CONNECT", "[::1]:8443"), "tunnel to [::1]:8443");
  EXPECT_EQ(wanted("GET", "http://[::1]:8080/"), "[::1]:8080 / Host: [::1]:8080");
  EXPECT_EQ(wanted("GET", "http://[::1]"), "[::1]:80 / Host: [::1]");
  for (std::string_view target :
       {"::1:8443", "[::1]", "[::1:443", "[::1]443", "[o.example.test]:443", "[::1%25lo]:443",
        "[::1%lo]:443", "::1]:443", "[]:443", "[127.0.0.1]:443", "[::1]:", "[[::1]]:443"}) {
    EXPECT_EQ(wanted("CONNECT", target), "malformed") << target;
    if (target == "[::1]") continue;  // a URI may leave out the port
    EXPECT_EQ(wanted("GET", "http://" + std::string(target) + "/"), "malformed") << target;
  }
}

TEST(target_form, B035_ports_are_numbers_from_1_to_65535) {
  for (std::string_view port :
       {"65979", "65536", "4294967739", "18446744073709552059", "0", "-1", "443x", "+443", ""}) {
    EXPECT_EQ(wanted("CONNECT", "o.example.test:" + std::string(port)), "malformed") << port;
    EXPECT_EQ(wanted("GET", "http://o.example.test:" + std::string(port) + "/"), "malformed")
        << port;
  }
  EXPECT_EQ(wanted("CONNECT", "o.example.test:00000443"), "tunnel to o.example.test:443");
  EXPECT_EQ(wanted("GET", "http://o.example.test:00000443/"),
            "o.example.test:443 / Host: o.example.test:443");
  EXPECT_EQ(wanted("CONNECT", "o.example.test:65535"), "tunnel to o.example.test:65535");
  EXPECT_EQ(parsed_request("CONNECT o.example.test: 443 HTTP/1.1\r\n\r\n"), "malformed");
}

TEST(target_form, B037_forms_that_do_not_belong_to_the_method_are_refused) {
  for (std::string_view target :
       {"http://o.example.test:443/", "u:p@o.example.test:443", "o.example.test:443/x",
        "o.example.test", "/", "*", ":443", "o.example.test:443?x", "https://o.example.test", "."})
    EXPECT_EQ(wanted("CONNECT", target), "malformed") << target;
  EXPECT_EQ(wanted("GET", "o.example.test:443"), "malformed");
  EXPECT_EQ(wanted("GET", "o.example.test"), "malformed");
  EXPECT_EQ(wanted("GET", "*"), "malformed");
  EXPECT_EQ(wanted("OPTIONS", "**"), "malformed");
  EXPECT_EQ(wanted("OPTIONS", "*/"), "malformed");
  EXPECT_EQ(wanted("connect", "o.example.test:443"), "malformed");
}

TEST(target_form, hosts_that_are_none_are_refused) {
  for (std::string_view target :
       {"http:///", "http://?x", "http://:80/", "http://a..b/", "http://.a/", "http://a%41.test/",
        "http://a,b/", "http://a\\b/", "http://\xc3\xa4.test/"})
    EXPECT_EQ(wanted("GET", target), "malformed") << target;
}

TEST(target_form, fragments_are_refused) {
  EXPECT_EQ(wanted("GET", "http://o.test/#f"), "malformed");
  EXPECT_EQ(wanted("GET", "http://o.test#f"), "malformed");
  EXPECT_EQ(wanted("GET", "/#f"), "malformed");
}

TEST(target_form, origin_form_and_asterisk_ask_for_ourselves) {
  EXPECT_EQ(wanted("GET", "/metrics?x"), "origin /metrics?x");
  EXPECT_EQ(wanted("GET", "//h.test/"), "origin //h.test/");
  EXPECT_EQ(wanted("OPTIONS", "*"), "asterisk");
}

TEST(target_form, OPTIONS_without_path_and_query_asks_the_origin_for_an_asterisk) {
  EXPECT_EQ(wanted("OPTIONS", "http://o.test:8001"), "o.test:8001 * Host: o.test:8001");
  EXPECT_EQ(wanted("OPTIONS", "http://o.test/"), "o.test:80 / Host: o.test");
  EXPECT_EQ(wanted("OPTIONS", "http://o.test?q"), "o.test:80 /?q Host: o.test");
}

TEST(target_form, B029_HTTP_1_1_needs_one_Host_and_1_0_none) {
  EXPECT_EQ(wanted_by("CONNECT o.test:443 HTTP/1.0\r\n\r\n"), "tunnel to o.test:443");
  EXPECT_EQ(wanted_by("CONNECT o.test:443 HTTP/1.1\r\n\r\n"), "malformed");
  EXPECT_EQ(wanted_by("GET http://o.test/ HTTP/1.1\r\n\r\n"), "malformed");
  EXPECT_EQ(wanted_by("GET http://o.test/ HTTP/1.1\r\nHost: o.test\r\nHost: o.test\r\n\r\n"),
            "malformed");
  EXPECT_EQ(wanted_by("GET http://o.test/ HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n"), "malformed");
}

TEST(target_form, a_Host_that_is_none_is_refused) {
  for (std::string_view value :
       {"a b", "a,b", "a/b", "u@a", "a?b", "a#b", "\"a\"", "a\\b", "\xc3\xa4"})
    EXPECT_EQ(wanted_by("GET http://o.test/ HTTP/1.1\r\nHost: " + std::string(value) + "\r\n\r\n"),
              "malformed")
        << value;
  for (std::string_view value : {"", "a_b.test:80", "[::1]:80", "xn--a.test", "a%20b"})
    EXPECT_EQ(wanted_by("GET http://o.test/ HTTP/1.1\r\nHost: " + std::string(value) + "\r\n\r\n"),
              "o.test:80 / Host: o.test")
        << value;
}

TEST(target_form, Max_Forwards_0_stops_TRACE_and_OPTIONS_only) {
  EXPECT_TRUE(must_stop_here(Request("Max-Forwards: 0\r\n", "TRACE / HTTP/1.1").head()));
  EXPECT_TRUE(must_stop_here(Request("max-forwards: 00\r\n", "OPTIONS / HTTP/1.1").head()));
  EXPECT_FALSE(must_stop_here(Request("Max-Forwards: 0\r\n", "GET / HTTP/1.1").head()));
  EXPECT_FALSE(must_stop_here(Request("Max-Forwards: 1\r\n", "TRACE / HTTP/1.1").head()));
  EXPECT_FALSE(must_stop_here(Request("Max-Forwards: x\r\n", "TRACE / HTTP/1.1").head()));
  EXPECT_FALSE(must_stop_here(Request("", "TRACE / HTTP/1.1").head()));
}

}  // namespace
}  // namespace headrace::http
