#include "contract/object_store_contract.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "support/result_matchers.h"

namespace tidemark::storage {

namespace {

using support::IsError;
using support::IsOk;
using support::IsOkAnd;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> KeysOf(const Listing& listing) {
  std::vector<std::string> keys;
  for (const ObjectInfo& object : listing.objects) keys.push_back(object.key);
  return keys;
}

ListOptions Recursive(std::string start_after = "") {
  return {.start_after = std::move(start_after), .is_recursive = true};
}
ListOptions Flat(std::string start_after = "") {
  return {.start_after = std::move(start_after), .is_recursive = false};
}

}  // namespace

void ObjectStoreContract::SetUp() {
  static std::atomic<int> counter = 0;
  root_ = fmt::format("root-{}", ++counter);
  store_ = Reopen();
  ASSERT_NE(store_, nullptr);
}

std::unique_ptr<ObjectStore> ObjectStoreContract::Reopen() {
  auto store = GetParam().open(root_);
  EXPECT_THAT(store, IsOk());
  return store ? *std::move(store) : nullptr;
}

void ObjectStoreContract::Fill(std::initializer_list<std::string_view> keys) {
  for (const auto key : keys) ASSERT_THAT(store_->Put(key, key, budget_), IsOk()) << key;
}

TEST_P(ObjectStoreContract, WhatIsPutIsReadThroughAnotherHandle) {
  const std::string bytes("a\0b\r\n\xff", 6);
  ASSERT_THAT(store_->Put("a/b", bytes, budget_), IsOk());
  EXPECT_THAT(Reopen()->Read("a/b", budget_), IsOkAnd(bytes));
}

TEST_P(ObjectStoreContract, AnEmptyObjectIsAnObject) {
  ASSERT_THAT(store_->Put("empty", "", budget_), IsOk());
  EXPECT_THAT(store_->Read("empty", budget_), IsOkAnd(std::string()));
  if (GetParam().limits.has_ranges_of_empty_objects) {
    EXPECT_THAT(store_->ReadRange("empty", 0, 10, budget_), IsOkAnd(std::string()));
  } else {
    Budget once = budget_;
    once.tries_max = 1;
    EXPECT_THAT(store_->ReadRange("empty", 0, 10, once),
                IsError(ErrorKind::kUnavailable, HasSubstr("closed")));
  }
  ASSERT_OK_ASSIGN(const ObjectInfo info, store_->Stat("empty", budget_));
  EXPECT_EQ(info.size, 0u);
}

TEST_P(ObjectStoreContract, ALargeObjectSurvives) {
  std::string bytes;
  while (bytes.size() < 9'000'000) bytes += fmt::format("{},", bytes.size());
  ASSERT_THAT(store_->Put("large", bytes, budget_), IsOk());
  ASSERT_OK_ASSIGN(const std::string read, store_->Read("large", budget_));
  EXPECT_GE(read.capacity() - read.size(), kReadRoomBytes);
  EXPECT_TRUE(read == bytes);
  EXPECT_THAT(store_->ReadRange("large", 8'000'000, 7, budget_),
              IsOkAnd(bytes.substr(8'000'000, 7)));
}

TEST_P(ObjectStoreContract, ABoundedReadGivesTheWholeObjectOrSaysThatItIsTooLarge) {
  ASSERT_THAT(store_->Put("a", "12345", budget_), IsOk());
  EXPECT_THAT(store_->ReadUpTo("a", 5, budget_), IsOkAnd(std::string("12345")));
  EXPECT_THAT(store_->ReadUpTo("a", 6, budget_), IsOkAnd(std::string("12345")));
  EXPECT_THAT(store_->ReadUpTo("a", 4, budget_),
              IsError(ErrorKind::kExhausted, HasSubstr("bytes_max=4")));
  EXPECT_THAT(store_->ReadUpTo("b", 4, budget_), IsError(ErrorKind::kNotFound, HasSubstr("b")));
}

TEST_P(ObjectStoreContract, PutReplaces) {
  ASSERT_THAT(store_->Put("a", "first, and longer", budget_), IsOk());
  ASSERT_THAT(store_->Put("a", "second", budget_), IsOk());
  EXPECT_THAT(store_->Read("a", budget_), IsOkAnd(std::string("second")));
}

TEST_P(ObjectStoreContract, ARangeEndsWhereTheObjectEnds) {
  ASSERT_THAT(store_->Put("a", "0123456789", budget_), IsOk());
  EXPECT_THAT(store_->ReadRange("a", 0, 4, budget_), IsOkAnd(std::string("0123")));
  EXPECT_THAT(store_->ReadRange("a", 4, 4, budget_), IsOkAnd(std::string("4567")));
  EXPECT_THAT(store_->ReadRange("a", 8, 4, budget_), IsOkAnd(std::string("89")));
  EXPECT_THAT(store_->ReadRange("a", 9, UINT64_MAX, budget_), IsOkAnd(std::string("9")));
  EXPECT_THAT(store_->ReadRange("a", 10, 1, budget_), IsOkAnd(std::string()));
  EXPECT_THAT(store_->ReadRange("a", UINT64_MAX, 1, budget_), IsOkAnd(std::string()));
  EXPECT_THAT(store_->ReadRange("a", 3, 0, budget_), IsOkAnd(std::string()));
}

TEST_P(ObjectStoreContract, ARangeIsReadIntoTheCallersMemory) {
  ASSERT_THAT(store_->Put("a", "0123456789", budget_), IsOk());
  std::string into(4, '.');
  ObjectState state;
  EXPECT_THAT(store_->ReadInto("a", 3, into, state, budget_), IsOkAnd(4u));
  EXPECT_EQ(into, "3456");
  EXPECT_THAT(store_->ReadInto("a", 8, into, state, budget_), IsOkAnd(2u));
  EXPECT_EQ(into.substr(0, 2), "89");
  EXPECT_THAT(store_->ReadInto("a", 10, into, state, budget_), IsOkAnd(0u));
  EXPECT_THAT(store_->ReadInto("a", UINT64_MAX, into, state, budget_), IsOkAnd(0u));
  EXPECT_THAT(store_->ReadInto("none", 0, into, state, budget_),
              IsError(ErrorKind::kNotFound, HasSubstr("none")));
}

TEST_P(ObjectStoreContract, RangesAreOfOneObjectOrAConflict) {
  const auto changed = IsError(ErrorKind::kConflict, AllOf(HasSubstr("changed while it was read"),
                                                           HasSubstr(store_->uri() + "/a")));
  std::string into(4, '.');
  ASSERT_THAT(store_->Put("a", "0123456789", budget_), IsOk());
  ObjectState state;
  EXPECT_THAT(store_->ReadInto("a", 0, into, state, budget_), IsOkAnd(4u));
  EXPECT_THAT(store_->ReadInto("a", 4, into, state, budget_), IsOkAnd(4u));
  EXPECT_EQ(into, "4567");
  ASSERT_THAT(store_->Put("a", "abcdefghij", budget_), IsOk());
  EXPECT_THAT(store_->ReadInto("a", 4, into, state, budget_), changed);
  ObjectState anew;
  EXPECT_THAT(store_->ReadInto("a", 4, into, anew, budget_), IsOkAnd(4u));
  EXPECT_EQ(into, "efgh");
  // Of another size than a listing said.
  ObjectState listed(ObjectChange::kNone, 11);
  EXPECT_THAT(store_->ReadInto("a", 4, into, listed, budget_), changed);
}

TEST_P(ObjectStoreContract, WhatIsMissingIsNotFoundAndNamed) {
  const auto named = IsError(ErrorKind::kNotFound, AllOf(HasSubstr(store_->uri() + "/a/b")));
  Fill({"a/c"});
  EXPECT_THAT(store_->Read("a/b", budget_), named);
  EXPECT_THAT(store_->ReadRange("a/b", 0, 1, budget_), named);
  EXPECT_THAT(store_->ReadRange("a/b", 0, 0, budget_), named);
  EXPECT_THAT(store_->Stat("a/b", budget_), named);
}

TEST_P(ObjectStoreContract, AFolderIsNotAnObject) {
  Fill({"a/b/c"});
  EXPECT_THAT(store_->Read("a/b", budget_), IsError(ErrorKind::kNotFound, ::testing::_));
  EXPECT_THAT(store_->Stat("a", budget_), IsError(ErrorKind::kNotFound, ::testing::_));
  EXPECT_THAT(store_->Remove("a/b", budget_), IsOk());
  EXPECT_THAT(store_->Read("a/b/c", budget_), IsOk());
}

TEST_P(ObjectStoreContract, WhatLiesBelowAnObjectIsNotFound) {
  Fill({"a"});
  EXPECT_THAT(store_->Read("a/b", budget_), IsError(ErrorKind::kNotFound, ::testing::_));
  EXPECT_THAT(store_->Stat("a/b", budget_), IsError(ErrorKind::kNotFound, ::testing::_));
  ASSERT_OK_ASSIGN(const Listing listing, store_->List("a", Recursive(), budget_));
  EXPECT_THAT(listing.objects, IsEmpty());
}

TEST_P(ObjectStoreContract, StatGivesSizeAndTime) {
  ASSERT_THAT(store_->Put("a/b", "12345", budget_), IsOk());
  ASSERT_OK_ASSIGN(const ObjectInfo info, store_->Stat("a/b", budget_));
  EXPECT_EQ(info.key, "a/b");
  EXPECT_EQ(info.size, 5u);
  const auto age = SystemClock().Now() - info.modified;
  EXPECT_LT(age, std::chrono::minutes(5));
  EXPECT_GT(age, -std::chrono::minutes(5));
  ASSERT_OK_ASSIGN(const Listing listing, store_->List("a", Flat(), budget_));
  ASSERT_EQ(listing.objects.size(), 1u);
  EXPECT_EQ(listing.objects[0].size, 5u);
  EXPECT_EQ(listing.objects[0].modified, info.modified);
}

TEST_P(ObjectStoreContract, AListingIsInByteOrder) {
  // '-' and '.' sort before '/', so folders and objects interleave.
  Fill({"b", "a/x", "a-", "a.b", "a0", "Z", "a/a/a", "\xc3\xa4", "~"});
  if (!GetParam().limits.has_byte_order) {
    EXPECT_THAT(store_->List("", Recursive(), budget_),
                IsError(ErrorKind::kCorrupt, HasSubstr("not in byte order")));
    return;
  }
  ASSERT_OK_ASSIGN(const Listing all, store_->List("", Recursive(), budget_));
  EXPECT_THAT(KeysOf(all),
              ElementsAre("Z", "a-", "a.b", "a/a/a", "a/x", "a0", "b", "~", "\xc3\xa4"));
  EXPECT_THAT(all.folders, IsEmpty());
}

TEST_P(ObjectStoreContract, AFlatListingSumsUpFolders) {
  Fill({"t/a", "t/b/c", "t/b/d/e", "t/f/g", "tt/x", "u"});
  ASSERT_OK_ASSIGN(const Listing top, store_->List("", Flat(), budget_));
  EXPECT_THAT(KeysOf(top), ElementsAre("u"));
  EXPECT_THAT(top.folders, ElementsAre("t/", "tt/"));
  for (const char* folder : {"t", "t/"}) {
    ASSERT_OK_ASSIGN(const Listing listing, store_->List(folder, Flat(), budget_));
    EXPECT_THAT(KeysOf(listing), ElementsAre("t/a"));
    EXPECT_THAT(listing.folders, ElementsAre("t/b/", "t/f/"));
  }
}

TEST_P(ObjectStoreContract, ARecursiveListingStaysInItsFolder) {
  Fill({"t/a", "t/b/c", "t/b/d/e", "t.x", "tt/x", "t0"});
  ASSERT_OK_ASSIGN(const Listing listing, store_->List("t", Recursive(), budget_));
  EXPECT_THAT(KeysOf(listing), ElementsAre("t/a", "t/b/c", "t/b/d/e"));
}

TEST_P(ObjectStoreContract, AFolderThatDoesNotExistIsEmpty) {
  Fill({"a/b"});
  for (const bool is_recursive : {false, true}) {
    ASSERT_OK_ASSIGN(
        const Listing listing,
        store_->List("a/x/y", {.start_after = "", .is_recursive = is_recursive}, budget_));
    EXPECT_THAT(listing.objects, IsEmpty());
    EXPECT_THAT(listing.folders, IsEmpty());
  }
}

TEST_P(ObjectStoreContract, StartAfterIsExclusiveAndByteWise) {
  Fill({"t/1", "t/2", "t/2.a", "t/3+x", "t/3 x", "t/4"});
  const auto after = [&](std::string key) {
    return KeysOf(store_->List("t", Flat(std::move(key)), budget_).value_or(Listing{}));
  };
  EXPECT_THAT(after("t/4"), IsEmpty());
  EXPECT_THAT(after("t/3+x"), ElementsAre("t/4"));
  EXPECT_THAT(after("t/3 x"), ElementsAre("t/3+x", "t/4"));
  EXPECT_THAT(after("t/2"), ElementsAre("t/2.a", "t/3 x", "t/3+x", "t/4"));
  EXPECT_THAT(after("t/1.nothing has this name"),
              ElementsAre("t/2", "t/2.a", "t/3 x", "t/3+x", "t/4"));
  EXPECT_THAT(after("s"), ElementsAre("t/1", "t/2", "t/2.a", "t/3 x", "t/3+x", "t/4"));
  EXPECT_THAT(after("u"), IsEmpty());
}

TEST_P(ObjectStoreContract, StartAfterGoesDeepInARecursiveListing) {
  Fill({"a/1", "a/b/1", "a/b/2", "a/c/1", "b/1"});
  ASSERT_OK_ASSIGN(const Listing listing, store_->List("", Recursive("a/b/1"), budget_));
  EXPECT_THAT(KeysOf(listing), ElementsAre("a/b/2", "a/c/1", "b/1"));
}

TEST_P(ObjectStoreContract, AFolderThatStartAfterLiesInIsStillListed) {
  Fill({"a/1", "a/b/1", "a/b/2", "a/c/1", "a/d"});
  ASSERT_OK_ASSIGN(const Listing inside, store_->List("a", Flat("a/b/1"), budget_));
  EXPECT_THAT(inside.folders, ElementsAre("a/b/", "a/c/"));
  EXPECT_THAT(KeysOf(inside), ElementsAre("a/d"));
  ASSERT_OK_ASSIGN(const Listing behind, store_->List("a", Flat("a/b0"), budget_));
  EXPECT_THAT(behind.folders, ElementsAre("a/c/"));
}

TEST_P(ObjectStoreContract, NamesMayHoldWhatUrlsAndXmlEscape) {
  std::vector<std::string> keys = {"p/a b",
                                   "p/a%20b",
                                   "p/a+b",
                                   "p/a&b",
                                   "p/<a>",
                                   "p/\"q\"",
                                   "p/year=2024/m='1'",
                                   "p/a?b#c",
                                   "p/a:b",
                                   "p/%",
                                   "p/%zz",
                                   "p/;,@$!*()[]{}|^`~",
                                   "p/\xe6\xb0\xb4",
                                   "p/\xf0\x9f\x8c\x8a",
                                   "p/.dot",
                                   "p/..dots",
                                   "p/..."};
  if (GetParam().limits.has_backslashes) {
    keys.emplace_back("p/\\n");
  } else {
    const auto refused = IsError(ErrorKind::kInvalidArgument, HasSubstr("\\"));
    EXPECT_THAT(store_->Put("p/\\n", "x", budget_), refused);
    EXPECT_THAT(store_->Read("p/\\n", budget_), refused);
  }
  for (const auto& key : keys) {
    SCOPED_TRACE(key);
    EXPECT_THAT(store_->Put(key, key, budget_), IsOk());
    EXPECT_THAT(store_->Read(key, budget_), IsOkAnd(key));
    ASSERT_OK_ASSIGN(const ObjectInfo info, store_->Stat(key, budget_));
    EXPECT_EQ(info.key, key);
  }
  ASSERT_OK_ASSIGN(const Listing listing, store_->List("p", Recursive(), budget_));
  std::vector<std::string> sorted = keys;
  std::ranges::sort(sorted);
  EXPECT_EQ(KeysOf(listing), sorted);
}

TEST_P(ObjectStoreContract, NamesMayHoldControlCharacters) {
  const std::string key = "p/new\nline\ttab";
  if (!GetParam().limits.has_control_characters) {
    EXPECT_FALSE(store_->Put(key, "x", budget_) && store_->Read(key, budget_) &&
                 KeysOf(store_->List("p", Flat(), budget_).value_or(Listing{})) == std::vector{key})
        << "the declared limit has_control_characters no longer holds";
    return;
  }
  EXPECT_THAT(store_->Put(key, "x", budget_), IsOk());
  EXPECT_THAT(store_->Read(key, budget_), IsOkAnd(std::string("x")));
  ASSERT_OK_ASSIGN(const Listing listing, store_->List("p", Flat(), budget_));
  EXPECT_THAT(KeysOf(listing), ElementsAre(key));
}

TEST_P(ObjectStoreContract, NamesThatCouldLeaveTheRootAreRefused) {
  for (const std::string& key :
       {std::string(), std::string("/a"), std::string("a//b"), std::string("."),
        std::string("a/.."), std::string("../a"), std::string("a/./b"), std::string("a/"),
        std::string("a\0b", 3), std::string(5000, 'x')}) {
    SCOPED_TRACE(key);
    const auto refused = IsError(ErrorKind::kInvalidArgument, HasSubstr("name"));
    EXPECT_THAT(store_->Read(key, budget_), refused);
    EXPECT_THAT(store_->ReadRange(key, 0, 1, budget_), refused);
    EXPECT_THAT(store_->Stat(key, budget_), refused);
    EXPECT_THAT(store_->Put(key, "x", budget_), refused);
    EXPECT_THAT(store_->PutIfAbsent(key, "x", budget_), refused);
    EXPECT_THAT(store_->Remove(key, budget_), refused);
  }
  for (const std::string_view folder : {"/", "//", "..", "a/../b", "a//"}) {
    EXPECT_THAT(store_->List(folder, Flat(), budget_),
                IsError(ErrorKind::kInvalidArgument, HasSubstr("name")))
        << folder;
  }
}

TEST_P(ObjectStoreContract, RemoveRemovesAndMayBeRepeated) {
  Fill({"a/b", "a/c"});
  EXPECT_THAT(store_->Remove("a/b", budget_), IsOk());
  EXPECT_THAT(store_->Remove("a/b", budget_), IsOk());
  EXPECT_THAT(store_->Remove("never/was", budget_), IsOk());
  EXPECT_THAT(store_->Read("a/b", budget_), IsError(ErrorKind::kNotFound, ::testing::_));
  ASSERT_OK_ASSIGN(const Listing listing, store_->List("a", Flat(), budget_));
  EXPECT_THAT(KeysOf(listing), ElementsAre("a/c"));
}

TEST_P(ObjectStoreContract, PutIfAbsentWritesOnce) {
  if (!GetParam().limits.has_put_if_absent) {
    ASSERT_THAT(store_->PutIfAbsent("a", "first", budget_), IsOk());
    EXPECT_THAT(store_->PutIfAbsent("a", "second", budget_), IsOk())
        << "the declared limit has_put_if_absent no longer holds";
    return;
  }
  ASSERT_THAT(store_->PutIfAbsent("a", "first", budget_), IsOk());
  EXPECT_THAT(store_->PutIfAbsent("a", "second", budget_),
              IsError(ErrorKind::kConflict, HasSubstr(store_->uri() + "/a")));
  EXPECT_THAT(store_->Read("a", budget_), IsOkAnd(std::string("first")));
  ASSERT_THAT(store_->Remove("a", budget_), IsOk());
  EXPECT_THAT(store_->PutIfAbsent("a", "third", budget_), IsOk());
}

TEST_P(ObjectStoreContract, OfManyWritersExactlyOneWins) {
  if (!GetParam().limits.has_put_if_absent) return;  // asserted by PutIfAbsentWritesOnce
  constexpr int kWriters = 8;
  std::atomic<int> winners = 0;
  std::atomic<int> losers = 0;
  std::string won;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kWriters; ++i) {
      threads.emplace_back([&, i] {
        const std::string bytes(10'000, static_cast<char>('a' + i));
        const Status status = store_->PutIfAbsent("one", bytes, budget_);
        if (status) {
          ++winners;
          won = bytes;
        } else if (status.error().kind == ErrorKind::kConflict) {
          ++losers;
        }
      });
    }
  }
  EXPECT_EQ(winners, 1);
  EXPECT_EQ(losers, kWriters - 1);
  EXPECT_THAT(store_->Read("one", budget_), IsOkAnd(won));
}

TEST_P(ObjectStoreContract, AReaderNeverSeesAPart) {
  const std::string old_bytes(100'000, 'a');
  const std::string new_bytes(300'000, 'b');
  ASSERT_THAT(store_->Put("x", old_bytes, budget_), IsOk());
  std::jthread writer([&](const std::stop_token& stop) {
    for (int i = 0; i < 20 && !stop.stop_requested(); ++i)
      EXPECT_THAT(store_->Put("x", i % 2 == 0 ? new_bytes : old_bytes, budget_), IsOk());
  });
  for (int i = 0; i < 20; ++i) {
    const auto read = store_->Read("x", budget_);
    const auto listing = store_->List("", Recursive(), budget_);
    if (!GetParam().limits.has_atomic_put) {
      // Parts, and failures of the server over them; but nobody else's bytes.
      if (read) {
        EXPECT_EQ(read->find_first_not_of("ab"), std::string::npos);
      }
      continue;
    }
    ASSERT_THAT(read, IsOk());
    EXPECT_TRUE(*read == old_bytes || *read == new_bytes) << read->size();
    ASSERT_THAT(listing, IsOk());
    EXPECT_THAT(KeysOf(*listing), ElementsAre("x"));
  }
  writer.join();
  ASSERT_OK_ASSIGN(const std::string last, store_->Read("x", budget_));
  EXPECT_TRUE(last == old_bytes);
}

TEST_P(ObjectStoreContract, AnyThreadMayCallAnyMethod) {
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      for (int j = 0; j < 5; ++j) {
        const std::string key = fmt::format("t{}/{}", i, j);
        EXPECT_THAT(store_->Put(key, key, budget_), IsOk());
        EXPECT_THAT(store_->Read(key, budget_), IsOkAnd(key));
        EXPECT_THAT(store_->List("", Recursive(), budget_), IsOk());
      }
    });
  }
  threads.clear();
  ASSERT_OK_ASSIGN(const Listing listing, store_->List("", Recursive(), budget_));
  EXPECT_EQ(listing.objects.size(), 20u);
}

TEST_P(ObjectStoreContract, AStoppedBudgetIsCancelled) {
  Fill({"a"});
  std::stop_source source;
  source.request_stop();
  const Budget stopped = Budget::For(std::chrono::hours(1), source.get_token());
  const auto cancelled = IsError(ErrorKind::kCancelled, ::testing::_);
  EXPECT_THAT(store_->Read("a", stopped), cancelled);
  EXPECT_THAT(store_->ReadRange("a", 0, 1, stopped), cancelled);
  EXPECT_THAT(store_->Stat("a", stopped), cancelled);
  EXPECT_THAT(store_->List("", Flat(), stopped), cancelled);
  EXPECT_THAT(store_->Put("b", "x", stopped), cancelled);
  EXPECT_THAT(store_->PutIfAbsent("b", "x", stopped), cancelled);
  EXPECT_THAT(store_->Remove("a", stopped), cancelled);
  ASSERT_OK_ASSIGN(const Listing listing, store_->List("", Flat(), budget_));
  EXPECT_THAT(KeysOf(listing), ElementsAre("a"));
}

TEST_P(ObjectStoreContract, ABudgetThatIsOverIsUnavailable) {
  Fill({"a"});
  const Budget over = Budget::For(std::chrono::seconds(0));
  EXPECT_THAT(store_->Read("a", over), IsError(ErrorKind::kUnavailable, ::testing::_));
  EXPECT_THAT(store_->List("", Flat(), over), IsError(ErrorKind::kUnavailable, ::testing::_));
}

TEST_P(ObjectStoreContract, TheUriHasNoTrailingSlash) {
  EXPECT_FALSE(store_->uri().ends_with('/')) << store_->uri();
}

}  // namespace tidemark::storage
