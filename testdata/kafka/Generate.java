// Writes messages.txt and batches.txt with the classes of Apache Kafka's own client:
//   java -cp 'kafka-clients.jar:<its libraries>' Generate.java FOLDER
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.util.*;
import org.apache.kafka.common.utils.internals.BufferSupplier;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.message.*;
import org.apache.kafka.common.protocol.*;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.record.internal.*;

public class Generate {
  static final List<String> messages = new ArrayList<>();
  static final List<String> batches = new ArrayList<>();
  static final Uuid ID = new Uuid(0x0102030405060708L, 0x090a0b0c0d0e0f10L);

  static String hex(ByteBuffer buffer) {
    StringBuilder out = new StringBuilder();
    for (ByteBuffer b = buffer.duplicate(); b.hasRemaining();) out.append(String.format("%02x", b.get()));
    return out.toString();
  }

  static void message(String name, int version, ApiMessage message) {
    ObjectSerializationCache cache = new ObjectSerializationCache();
    ByteBuffer buffer = ByteBuffer.allocate(message.size(cache, (short) version));
    message.write(new ByteBufferAccessor(buffer), cache, (short) version);
    buffer.flip();
    messages.add(name + " " + version + " " + hex(buffer));
  }

  static void login() {
    for (int v = 0; v <= 4; ++v) {
      message("ApiVersionsRequest", v, new ApiVersionsRequestData()
          .setClientSoftwareName(v >= 3 ? "tidemark" : "").setClientSoftwareVersion(v >= 3 ? "1" : ""));
      ApiVersionsResponseData.ApiVersionCollection apis = new ApiVersionsResponseData.ApiVersionCollection();
      apis.add(new ApiVersionsResponseData.ApiVersion().setApiKey((short) 1).setMinVersion((short) 4).setMaxVersion((short) 17));
      apis.add(new ApiVersionsResponseData.ApiVersion().setApiKey((short) 3).setMinVersion((short) 0).setMaxVersion((short) 13));
      message("ApiVersionsResponse", v, new ApiVersionsResponseData().setApiKeys(apis).setThrottleTimeMs(v >= 1 ? 7 : 0));
    }
    message("SaslHandshakeRequest", 1, new SaslHandshakeRequestData().setMechanism("PLAIN"));
    message("SaslHandshakeResponse", 1, new SaslHandshakeResponseData().setErrorCode((short) 33).setMechanisms(List.of("PLAIN", "SCRAM-SHA-256")));
    for (int v = 0; v <= 2; ++v) {
      message("SaslAuthenticateRequest", v, new SaslAuthenticateRequestData().setAuthBytes("token".getBytes(StandardCharsets.UTF_8)));
      message("SaslAuthenticateResponse", v, new SaslAuthenticateResponseData().setErrorCode((short) 58).setErrorMessage("no")
          .setAuthBytes("answer".getBytes(StandardCharsets.UTF_8)).setSessionLifetimeMs(v >= 1 ? 3600000L : 0));
    }
  }

  static void metadata() {
    for (int v = 0; v <= 13; ++v) {
      MetadataRequestData request = new MetadataRequestData().setAllowAutoTopicCreation(v < 4);
      request.setTopics(List.of(new MetadataRequestData.MetadataRequestTopic().setName("orders"),
                                new MetadataRequestData.MetadataRequestTopic().setName("pay")));
      message("MetadataRequest", v, request);
      MetadataResponseData.MetadataResponseBrokerCollection brokers = new MetadataResponseData.MetadataResponseBrokerCollection();
      brokers.add(new MetadataResponseData.MetadataResponseBroker().setNodeId(1).setHost("kafka-1").setPort(9092).setRack(v >= 1 ? "a" : null));
      brokers.add(new MetadataResponseData.MetadataResponseBroker().setNodeId(2).setHost("kafka-2").setPort(9093));
      MetadataResponseData.MetadataResponsePartition led = new MetadataResponseData.MetadataResponsePartition()
          .setPartitionIndex(0).setLeaderId(2).setReplicaNodes(List.of(2, 1)).setIsrNodes(List.of(2));
      if (v >= 5) led.setOfflineReplicas(List.of(1));
      if (v >= 7) led.setLeaderEpoch(9);
      MetadataResponseData.MetadataResponsePartition orphan = new MetadataResponseData.MetadataResponsePartition()
          .setErrorCode((short) 5).setPartitionIndex(1).setLeaderId(-1).setReplicaNodes(List.of(1)).setIsrNodes(List.of());
      MetadataResponseData.MetadataResponseTopicCollection topics = new MetadataResponseData.MetadataResponseTopicCollection();
      topics.add(new MetadataResponseData.MetadataResponseTopic().setName("orders").setPartitions(List.of(led, orphan))
          .setTopicId(v >= 10 ? ID : Uuid.ZERO_UUID));
      topics.add(new MetadataResponseData.MetadataResponseTopic().setErrorCode((short) 3).setName("pay"));
      MetadataResponseData response = new MetadataResponseData().setBrokers(brokers).setTopics(topics);
      if (v >= 1) response.setControllerId(1);
      if (v >= 2) response.setClusterId("the cluster");
      if (v >= 3) response.setThrottleTimeMs(7);
      message("MetadataResponse", v, response);
    }
  }

  static void offsets() {
    for (int v = 1; v <= 9; ++v) {
      ListOffsetsRequestData.ListOffsetsPartition partition = new ListOffsetsRequestData.ListOffsetsPartition()
          .setPartitionIndex(3).setTimestamp(-2);
      if (v >= 4) partition.setCurrentLeaderEpoch(9);
      ListOffsetsRequestData request = new ListOffsetsRequestData().setReplicaId(-1).setTopics(List.of(
          new ListOffsetsRequestData.ListOffsetsTopic().setName("orders").setPartitions(List.of(partition))));
      if (v >= 2) request.setIsolationLevel((byte) 1);
      message("ListOffsetsRequest", v, request);
      ListOffsetsResponseData.ListOffsetsPartitionResponse answer = new ListOffsetsResponseData.ListOffsetsPartitionResponse()
          .setPartitionIndex(3).setErrorCode((short) 6).setTimestamp(1700000000000L).setOffset(42);
      if (v >= 4) answer.setLeaderEpoch(9);
      ListOffsetsResponseData response = new ListOffsetsResponseData().setTopics(List.of(
          new ListOffsetsResponseData.ListOffsetsTopicResponse().setName("orders").setPartitions(List.of(answer))));
      if (v >= 2) response.setThrottleTimeMs(7);
      message("ListOffsetsResponse", v, response);
    }
    for (int v = 2; v <= 4; ++v) {
      OffsetForLeaderEpochRequestData.OffsetForLeaderTopicCollection topics = new OffsetForLeaderEpochRequestData.OffsetForLeaderTopicCollection();
      topics.add(new OffsetForLeaderEpochRequestData.OffsetForLeaderTopic().setTopic("orders").setPartitions(List.of(
          new OffsetForLeaderEpochRequestData.OffsetForLeaderPartition().setPartition(3).setCurrentLeaderEpoch(9).setLeaderEpoch(8))));
      message("OffsetForLeaderEpochRequest", v, new OffsetForLeaderEpochRequestData().setReplicaId(v >= 3 ? -1 : -2).setTopics(topics));
      OffsetForLeaderEpochResponseData.OffsetForLeaderTopicResultCollection results = new OffsetForLeaderEpochResponseData.OffsetForLeaderTopicResultCollection();
      results.add(new OffsetForLeaderEpochResponseData.OffsetForLeaderTopicResult().setTopic("orders").setPartitions(List.of(
          new OffsetForLeaderEpochResponseData.EpochEndOffset().setErrorCode((short) 6).setPartition(3).setLeaderEpoch(8).setEndOffset(42))));
      message("OffsetForLeaderEpochResponse", v, new OffsetForLeaderEpochResponseData().setThrottleTimeMs(7).setTopics(results));
    }
  }

  static void fetch() {
    for (int v = 4; v <= 16; ++v) {
      FetchRequestData.FetchPartition partition = new FetchRequestData.FetchPartition().setPartition(3).setFetchOffset(42).setPartitionMaxBytes(1000);
      if (v >= 9) partition.setCurrentLeaderEpoch(9);
      FetchRequestData.FetchTopic topic = new FetchRequestData.FetchTopic().setPartitions(List.of(partition));
      if (v <= 12) topic.setTopic("orders"); else topic.setTopicId(ID);
      FetchRequestData request = new FetchRequestData().setMaxWaitMs(0).setMinBytes(1).setMaxBytes(5000)
          .setIsolationLevel((byte) 1).setTopics(List.of(topic));
      if (v <= 14) request.setReplicaId(-1);
      if (v >= 7) request.setSessionId(0).setSessionEpoch(-1);
      message("FetchRequest", v, request);
      FetchResponseData.PartitionData answer = new FetchResponseData.PartitionData().setPartitionIndex(3).setErrorCode((short) 1)
          .setHighWatermark(50).setLastStableOffset(48).setRecords(MemoryRecords.readableRecords(ByteBuffer.wrap(new byte[] {1, 2, 3})))
          .setAbortedTransactions(List.of(new FetchResponseData.AbortedTransaction().setProducerId(77).setFirstOffset(40)));
      if (v >= 5) answer.setLogStartOffset(10);
      if (v >= 11) answer.setPreferredReadReplica(-1);
      // Tagged fields that are to be stepped over.
      if (v >= 12) answer.setCurrentLeader(new FetchResponseData.LeaderIdAndEpoch().setLeaderId(2).setLeaderEpoch(9))
          .setDivergingEpoch(new FetchResponseData.EpochEndOffset().setEpoch(3).setEndOffset(5));
      FetchResponseData.PartitionData empty = new FetchResponseData.PartitionData().setPartitionIndex(4).setHighWatermark(0)
          .setLastStableOffset(0).setRecords(null).setAbortedTransactions(null);
      FetchResponseData.FetchableTopicResponse result = new FetchResponseData.FetchableTopicResponse().setPartitions(List.of(answer, empty));
      if (v <= 12) result.setTopic("orders"); else result.setTopicId(ID);
      FetchResponseData response = new FetchResponseData().setThrottleTimeMs(7).setResponses(List.of(result));
      if (v >= 16) {
        FetchResponseData.NodeEndpointCollection nodes = new FetchResponseData.NodeEndpointCollection();
        nodes.add(new FetchResponseData.NodeEndpoint().setNodeId(2).setHost("kafka-2").setPort(9093));
        response.setNodeEndpoints(nodes);
      }
      message("FetchResponse", v, response);
    }
  }

  static void configs() {
    for (int v = 1; v <= 4; ++v) {
      message("DescribeConfigsRequest", v, new DescribeConfigsRequestData().setResources(List.of(
          new DescribeConfigsRequestData.DescribeConfigsResource().setResourceType((byte) 2).setResourceName("orders")
              .setConfigurationKeys(List.of("retention.ms", "cleanup.policy")))));
      DescribeConfigsResponseData.DescribeConfigsResourceResult config = new DescribeConfigsResponseData.DescribeConfigsResourceResult()
          .setName("retention.ms").setValue("3600000").setConfigSource((byte) 1).setSynonyms(List.of(
              new DescribeConfigsResponseData.DescribeConfigsSynonym().setName("log.retention.ms").setValue(null).setSource((byte) 5)));
      if (v >= 3) config.setConfigType((byte) 5).setDocumentation("how long");
      message("DescribeConfigsResponse", v, new DescribeConfigsResponseData().setThrottleTimeMs(7).setResults(List.of(
          new DescribeConfigsResponseData.DescribeConfigsResult().setErrorCode((short) 29).setErrorMessage("no").setResourceType((byte) 2)
              .setResourceName("orders").setConfigs(List.of(config)))));
    }
  }

  // Ten records from offset 100 on, a second apart; every value as long as the README says.
  static final long MS = 1700000000000L;

  static MemoryRecords batch(byte magic, Compression compression, TimestampType type, long producer, boolean control) {
    ByteBuffer buffer = ByteBuffer.allocate(64 << 10);
    MemoryRecordsBuilder builder = new MemoryRecordsBuilder(buffer, magic, compression, type, 100L, MS + 500000, producer, (short) 0,
        producer < 0 ? -1 : 0, producer >= 0, control, 5, buffer.capacity());
    for (int i = 0; i < 10; ++i) {
      builder.appendWithOffset(100 + i, magic == 0 ? -1 : MS + 1000 * i, ("key " + i).getBytes(), "v".repeat(200).getBytes());
    }
    return builder.build();
  }

  static void batch(String name, MemoryRecords records) {
    batches.add(name + " " + hex(records.buffer()));
  }

  static void allBatches() {
    Map<String, Compression> codecs = new LinkedHashMap<>();
    codecs.put("none", Compression.NONE);
    codecs.put("gzip", Compression.gzip().build());
    codecs.put("snappy", Compression.snappy().build());
    codecs.put("lz4", Compression.lz4().build());
    codecs.put("zstd", Compression.zstd().build());
    for (byte magic = 0; magic <= 2; ++magic) {
      for (Map.Entry<String, Compression> codec : codecs.entrySet()) {
        if (magic < 2 && codec.getKey().equals("zstd")) continue;
        batch("magic" + magic + "-" + codec.getKey(), batch(magic, codec.getValue(), magic == 0 ? TimestampType.NO_TIMESTAMP_TYPE : TimestampType.CREATE_TIME, -1, false));
      }
    }
    batch("magic1-append-time", batch((byte) 1, Compression.gzip().build(), TimestampType.LOG_APPEND_TIME, -1, false));
    batch("magic2-append-time", batch((byte) 2, Compression.gzip().build(), TimestampType.LOG_APPEND_TIME, -1, false));
    batch("magic2-transaction", batch((byte) 2, Compression.NONE, TimestampType.CREATE_TIME, 77, false));
    batch("magic2-abort", MemoryRecords.withEndTransactionMarker(110, MS, 5, 77, (short) 0, new EndTransactionMarker(ControlRecordType.ABORT, 1)));
    batch("magic2-commit", MemoryRecords.withEndTransactionMarker(110, MS, 5, 77, (short) 0, new EndTransactionMarker(ControlRecordType.COMMIT, 1)));
    // What the cleaner leaves: every third record, and, with a tombstone, a horizon in place of the base timestamp.
    for (String codec : List.of("none", "zstd")) {
      for (boolean tombstone : List.of(false, true)) {
        MemoryRecords records = batch((byte) 2, codecs.get(codec), TimestampType.CREATE_TIME, -1, false);
        if (tombstone) {
          ByteBuffer buffer = ByteBuffer.allocate(64 << 10);
          MemoryRecordsBuilder builder = new MemoryRecordsBuilder(buffer, (byte) 2, codecs.get(codec), TimestampType.CREATE_TIME, 100L,
              -1L, -1L, (short) -1, -1, false, false, 5, buffer.capacity());
          for (int i = 0; i < 10; ++i) builder.appendWithOffset(100 + i, MS + 1000 * i, ("key " + i).getBytes(), null);
          records = builder.build();
        }
        ByteBuffer filtered = ByteBuffer.allocate(64 << 10);
        boolean all = tombstone;
        records.filterTo(new MemoryRecords.RecordFilter(MS + 900000, 60000) {
          protected BatchRetentionResult checkBatchRetention(RecordBatch b) {
            return new BatchRetentionResult(BatchRetention.RETAIN_EMPTY, false);
          }
          protected boolean shouldRetainRecord(RecordBatch b, org.apache.kafka.common.record.internal.Record r) { return all || r.offset() % 3 == 0; }
        }, filtered, BufferSupplier.NO_CACHING, 1 << 20);
        filtered.flip();
        batch("magic2-cleaned-" + codec + (tombstone ? "-tombstones" : ""), MemoryRecords.readableRecords(filtered));
      }
    }
    ByteBuffer gone = ByteBuffer.allocate(1024);
    batch((byte) 2, Compression.NONE, TimestampType.CREATE_TIME, -1, false).filterTo(new MemoryRecords.RecordFilter(0, 0) {
      protected BatchRetentionResult checkBatchRetention(RecordBatch b) { return new BatchRetentionResult(BatchRetention.RETAIN_EMPTY, false); }
      protected boolean shouldRetainRecord(RecordBatch b, org.apache.kafka.common.record.internal.Record r) { return false; }
    }, gone, BufferSupplier.NO_CACHING, 1 << 20);
    gone.flip();
    batch("magic2-cleaned-empty", MemoryRecords.readableRecords(gone));
  }

  public static void main(String[] arguments) throws Exception {
    login();
    metadata();
    offsets();
    fetch();
    configs();
    allBatches();
    Files.write(Path.of(arguments[0], "messages.txt"), messages);
    Files.write(Path.of(arguments[0], "batches.txt"), batches);
  }
}
