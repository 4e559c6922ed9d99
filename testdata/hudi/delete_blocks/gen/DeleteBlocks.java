import com.esotericsoftware.kryo.Kryo;
import com.esotericsoftware.kryo.Serializer;
import com.esotericsoftware.kryo.io.Input;
import com.esotericsoftware.kryo.io.Output;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.EncoderFactory;
import org.apache.avro.util.Utf8;
import org.apache.hudi.common.model.DeleteRecord;
import org.apache.hudi.common.model.HoodieKey;

/**
 * Writes the contents of delete blocks as Hudi writes them: version 1 and 2 with Kryo 4.0.2 set up as in
 * SerializationUtils, version 3 with Avro. Arguments: folder, "all" or "utf8" (for another Avro on the class path).
 */
public class DeleteBlocks {
  record Row(String key, String partition, Comparable<?> ordering) {}

  static final String LONG_KEY = "k".repeat(70);
  static final List<String> KEYS = List.of("a", "key:with,marks", LONG_KEY, "schlüssel-中-😀", "");
  static final List<String> PARTITIONS = List.of("p1", "p1", "", "dt=2026-01-31", "p1");

  static Kryo kryo() {
    Kryo kryo = new Kryo();
    kryo.setRegistrationRequired(false);
    kryo.setInstantiatorStrategy(
        new Kryo.DefaultInstantiatorStrategy(new org.objenesis.strategy.StdInstantiatorStrategy()));
    return kryo;
  }

  /** As 0.13 does, which gives Avro's text a serializer of its own and the number 27. */
  @SuppressWarnings("unchecked")
  static Kryo kryoOf013() {
    Kryo kryo = kryo();
    kryo.register(Utf8.class, new Serializer<Utf8>() {
      @Override public void write(Kryo k, Output output, Utf8 text) {
        k.getDefaultSerializer(byte[].class).write(k, output, text.getBytes());
      }
      @Override public Utf8 read(Kryo k, Input input, Class<Utf8> type) {
        return new Utf8((byte[]) k.getDefaultSerializer(byte[].class).read(k, input, byte[].class));
      }
    }, 27);
    return kryo;
  }

  static byte[] content(int version, byte[] payload) throws Exception {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    DataOutputStream out = new DataOutputStream(bytes);
    out.writeInt(version);
    out.writeInt(payload.length);
    out.write(payload);
    return bytes.toByteArray();
  }

  static byte[] kryoBytes(Kryo kryo, Object array) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    Output output = new Output(bytes);
    kryo.writeClassAndObject(output, array);
    output.close();
    return bytes.toByteArray();
  }

  static void kryoBlock(Path folder, String name, Kryo kryo, List<? extends Comparable<?>> values) throws Exception {
    List<DeleteRecord> rows = new ArrayList<>();
    for (int i = 0; i < values.size(); ++i)
      rows.add(new DeleteRecord(
          new HoodieKey(KEYS.get(i % KEYS.size()), PARTITIONS.get(i % PARTITIONS.size())), values.get(i)));
    byte[] payload = kryoBytes(kryo, rows.toArray(new DeleteRecord[0]));
    Files.write(folder.resolve(name + ".bin"), content(2, payload));
  }

  static final String SCHEMA = """
      {"type":"record","name":"HoodieDeleteRecordList","fields":[{"name":"deleteRecordList","type":{"type":"array",
       "items":{"type":"record","name":"HoodieDeleteRecord","fields":[
        {"name":"recordKey","type":["null","string"]},{"name":"partitionPath","type":["null","string"]},
        {"name":"orderingVal","type":["null",
         %s,
         {"type":"record","name":"ArrayWrapper","fields":[{"name":"wrappedValues","type":["null",{"type":"array",
          "items":["null","BooleanWrapper","IntWrapper","LongWrapper","FloatWrapper","DoubleWrapper","BytesWrapper",
           "StringWrapper","DateWrapper","DecimalWrapper","TimeMicrosWrapper","TimestampMicrosWrapper",
           {"type":"record","name":"LocalDateWrapper","fields":[{"name":"value","type":"int"}]}]}]}]}]}]}}}]}""";

  static String wrapper(String name, String type) {
    return "{\"type\":\"record\",\"name\":\"" + name + "\",\"fields\":[{\"name\":\"value\",\"type\":" + type + "}]}";
  }

  static void avroBlock(Path folder) throws Exception {
    Schema schema = new Schema.Parser().parse(SCHEMA.formatted(String.join(",",
        wrapper("BooleanWrapper", "\"boolean\""), wrapper("IntWrapper", "\"int\""), wrapper("LongWrapper", "\"long\""),
        wrapper("FloatWrapper", "\"float\""), wrapper("DoubleWrapper", "\"double\""),
        wrapper("BytesWrapper", "\"bytes\""), wrapper("StringWrapper", "\"string\""), wrapper("DateWrapper", "\"int\""),
        wrapper("DecimalWrapper", "\"bytes\""), wrapper("TimeMicrosWrapper", "\"long\""),
        wrapper("TimestampMicrosWrapper", "\"long\""))));
    Schema row = schema.getFields().get(0).schema().getElementType();
    List<Schema> branches = row.getField("orderingVal").schema().getTypes();
    Object[] values = {null, true, -7, 1_234_567_890_123L, 1.5f, -2.25, ByteBuffer.wrap(new byte[] {(byte) 0x80, 1}),
        "2025-12-02 08:30:08.453900", 20_000,
        ByteBuffer.wrap(new BigDecimal("2.25").setScale(15).unscaledValue().toByteArray()), 3_600_000_000L,
        1_700_000_000_000_000L};
    List<Object> rows = new ArrayList<>();
    for (int i = 0; i <= 12; ++i) {
      GenericData.Record record = new GenericData.Record(row);
      record.put("recordKey", i == 3 ? null : "k" + i);
      record.put("partitionPath", i == 4 ? null : "p");
      if (i == 12) {
        Schema array = branches.get(12);
        Schema items = array.getField("wrappedValues").schema().getTypes().get(1);
        Schema one = items.getElementType();
        GenericData.Array<Object> list = new GenericData.Array<>(4, items);
        list.add(null);
        list.add(wrapped(one.getTypes().get(3), 42L));
        list.add(wrapped(one.getTypes().get(7), "z"));
        list.add(wrapped(one.getTypes().get(12), 19_999));
        GenericData.Record wrapper = new GenericData.Record(array);
        wrapper.put("wrappedValues", list);
        record.put("orderingVal", wrapper);
      } else if (i > 0) {
        record.put("orderingVal", wrapped(branches.get(i), values[i]));
      }
      rows.add(record);
    }
    GenericData.Record all = new GenericData.Record(schema);
    all.put("deleteRecordList", new GenericData.Array<>(schema.getFields().get(0).schema(), rows));
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    BinaryEncoder encoder = EncoderFactory.get().binaryEncoder(bytes, null);
    new GenericDatumWriter<GenericData.Record>(schema).write(all, encoder);
    encoder.flush();
    Files.write(folder.resolve("v3_every_branch.bin"), content(3, bytes.toByteArray()));
  }

  static GenericData.Record wrapped(Schema schema, Object value) {
    GenericData.Record record = new GenericData.Record(schema);
    record.put("value", value);
    return record;
  }

  public static void main(String[] args) throws Exception {
    Path folder = Path.of(args[0]);
    List<Utf8> texts = List.of(new Utf8("2026-01-31"), new Utf8("ä"), new Utf8(""), new Utf8("abc"));
    if (args[1].equals("utf8")) {
      kryoBlock(folder, "v2_utf8_avro18", kryo(), texts);
      return;
    }
    HoodieKey[] keys = new HoodieKey[KEYS.size()];
    for (int i = 0; i < keys.length; ++i) keys[i] = new HoodieKey(KEYS.get(i), PARTITIONS.get(i));
    Files.write(folder.resolve("v1_keys.bin"), content(1, kryoBytes(kryo(), keys)));
    kryoBlock(folder, "v2_integer", kryo(), List.of(0, 1, -1, Integer.MAX_VALUE, Integer.MIN_VALUE));
    kryoBlock(folder, "v2_long", kryo(), List.of(0L, 1_234_567_890_123L, -1L, Long.MAX_VALUE, Long.MIN_VALUE));
    kryoBlock(folder, "v2_string", kryo(), List.of("2026-01-31", "b", "", "ä中", LONG_KEY));
    String shared = new String("same text");
    kryoBlock(folder, "v2_string_shared", kryo(), List.of(shared, shared, "p1"));
    kryoBlock(folder, "v2_double", kryo(), List.of(0.0, -2.25, Double.NaN));
    kryoBlock(folder, "v2_float", kryo(), List.of(0.0f, 1.5f));
    kryoBlock(folder, "v2_boolean", kryo(), List.of(true, false));
    kryoBlock(folder, "v2_decimal", kryo(),
        List.of(new BigDecimal("2.250000"), new BigDecimal("-99999999999999.999999"), BigDecimal.ZERO, BigDecimal.ONE));
    kryoBlock(folder, "v2_sql_date", kryo(), List.of(new java.sql.Date(1_767_225_600_000L), new java.sql.Date(-1L)));
    kryoBlock(folder, "v2_sql_timestamp", kryo(),
        List.of(new java.sql.Timestamp(1_767_225_600_123L), new java.sql.Timestamp(0)));
    kryoBlock(folder, "v2_local_date", kryo(), List.of(LocalDate.of(2026, 1, 31), LocalDate.of(1969, 12, 31)));
    kryoBlock(folder, "v2_utf8_avro111", kryo(), texts);
    kryoBlock(folder, "v2_utf8_registered", kryoOf013(), texts);
    List<Comparable<?>> some = new ArrayList<>();
    some.add(null);
    some.add(7L);
    some.add(null);
    kryoBlock(folder, "v2_null", kryo(), some);
    kryoBlock(folder, "v2_none", kryo(), List.of());
    List<Comparable<?>> mixed = List.of(7, "seven", 7L, new BigDecimal("7.0"));
    kryoBlock(folder, "v2_mixed", kryo(), mixed);
    List<Comparable<?>> unknown = List.of(7, java.util.UUID.fromString("00000000-0000-0000-0000-000000000007"));
    kryoBlock(folder, "v2_unknown_class", kryo(), unknown);
    HoodieKey key = new HoodieKey("k", "p");
    DeleteRecord twice = new DeleteRecord(key, 1L);
    DeleteRecord[] same = {twice, new DeleteRecord(key, 2L), twice};
    Files.write(folder.resolve("v2_same_objects.bin"), content(2, kryoBytes(kryo(), same)));
    avroBlock(folder);
  }
}
