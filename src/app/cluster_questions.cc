#include "app/cluster_questions.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace tidemark::app {

namespace {

using freshness::ClusterFacts;
using kafka::ProbeRequest;
using kafka::ProbeResult;

/// Requests that together ask for every topic of every question, each topic at most once per
/// request: pipelines on one topic with other offsets, or with another memory of its leaders, go
/// into the next request.
struct Round {
  ProbeRequest request;
  std::map<std::string, size_t> places;  ///< of the request's topics
};

bool IsSame(const ProbeRequest::Topic& a, const ProbeRequest::Topic& b) {
  return a.committed == b.committed && a.known_topic_id == b.known_topic_id &&
         a.wants_epochs == b.wants_epochs && a.known_epochs == b.known_epochs;
}

bool Fits(const Round& round, const ClusterQuestion& question) {
  return std::ranges::all_of(question, [&](const ProbeRequest::Topic& topic) {
    const auto found = round.places.find(topic.name);
    return found == round.places.end() || IsSame(round.request.topics[found->second], topic);
  });
}

/// Where the question is asked; a new round when no other one can take it.
size_t RoundFor(std::vector<Round>& rounds, const ClusterQuestion& question,
                kafka::IsolationLevel isolation) {
  for (size_t i = 0; i < rounds.size(); ++i)
    if (Fits(rounds[i], question)) return i;
  rounds.emplace_back().request.isolation = isolation;
  return rounds.size() - 1;
}

/// A result by topic, so that many questions do not each search all of it.
class ResultByTopic {
 public:
  explicit ResultByTopic(const ProbeResult& whole) : whole_(whole) {
    for (const auto& topic : whole.topics) topics_[topic.topic].push_back(&topic);
    for (const auto& facts : whole.partitions) partitions_[facts.partition.topic].push_back(&facts);
  }

  /// The part that is about the question's topics.
  ProbeResult PartOf(const ClusterQuestion& question) const {
    ProbeResult part;
    part.cluster_id = whole_.cluster_id;
    part.observed_at = whole_.observed_at;
    part.bytes_fetched = whole_.bytes_fetched;
    std::set<std::string_view> asked;
    for (const auto& topic : question) asked.insert(topic.name);
    for (const std::string_view topic : asked) {
      AppendTo(part.topics, topics_, topic);
      AppendTo(part.partitions, partitions_, topic);
    }
    return part;
  }

 private:
  template <class Facts>
  using ByTopic = std::map<std::string_view, std::vector<const Facts*>>;

  template <class Facts>
  static void AppendTo(std::vector<Facts>& part, const ByTopic<Facts>& whole,
                       std::string_view topic) {
    const auto found = whole.find(topic);
    if (found == whole.end()) return;
    for (const Facts* facts : found->second) part.push_back(*facts);
  }

  const ProbeResult& whole_;
  ByTopic<kafka::TopicFacts> topics_;
  ByTopic<kafka::PartitionFacts> partitions_;
};

}  // namespace

TableReading ReadingOf(Result<lake::CheckpointSearch> search, const freshness::PipelineSpec& spec,
                       const HiddenValues& hidden) {
  TableReading reading;
  if (!search) {
    reading.table.error = hidden.Hide(std::move(search).error());
    return reading;
  }
  for (auto& finding : search->findings) finding.message = hidden.Hide(std::move(finding.message));
  reading.question = freshness::TopicsToProbe(spec, *search);
  for (auto& topic : reading.question) {
    topic.wants_config = true;
    topic.age_asked = spec.sla;
  }
  reading.table.search = *std::move(search);
  return reading;
}

std::vector<ClusterFacts> AskCluster(kafka::PartitionProbe& probe, const HiddenValues& hidden,
                                     kafka::IsolationLevel isolation,
                                     std::span<const ClusterQuestion> questions,
                                     const Budget& budget) {
  std::vector<Round> rounds;
  std::vector<size_t> round_of;
  for (const ClusterQuestion& question : questions) {
    round_of.push_back(RoundFor(rounds, question, isolation));
    Round& round = rounds[round_of.back()];
    for (const auto& topic : question) {
      if (round.places.emplace(topic.name, round.request.topics.size()).second)
        round.request.topics.push_back(topic);
    }
  }
  std::vector<Result<ProbeResult>> results;
  for (const Round& round : rounds) {
    auto result = probe.Probe(round.request, budget);
    if (result) {
      hidden.HideIn(*result);
    } else {
      result = std::unexpected(hidden.Hide(std::move(result).error()));
    }
    results.push_back(std::move(result));
  }
  std::vector<std::optional<ResultByTopic>> by_topic(results.size());
  for (size_t i = 0; i < results.size(); ++i)
    if (results[i]) by_topic[i].emplace(*results[i]);
  std::vector<ClusterFacts> answers(questions.size());
  for (size_t i = 0; i < questions.size(); ++i) {
    const size_t round = round_of[i];
    if (by_topic[round]) {
      answers[i].result = by_topic[round]->PartOf(questions[i]);
    } else {
      answers[i].error = results[round].error();
    }
  }
  return answers;
}

}  // namespace tidemark::app
