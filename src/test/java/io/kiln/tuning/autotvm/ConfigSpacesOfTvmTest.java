// SPDX-License-Identifier: Apache-2.0
package io.kiln.tuning.autotvm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.core.json.JsonReadFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.kiln.reference.NeedsShared;
import io.kiln.reference.SharedFolder;
import io.kiln.tuning.record.RecordReader;
import io.kiln.tuning.record.RecordValue;
import io.kiln.tuning.record.RecordValue.Flag;
import io.kiln.tuning.record.RecordValue.Items;
import io.kiln.tuning.record.RecordValue.Numeric;
import io.kiln.tuning.record.RecordValue.Text;
import io.kiln.tuning.record.TuningRecord.Config;
import io.kiln.tuning.record.TuningRecord.Entity;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;

/** Spaces against those that the real TVM made from the same definitions. */
class ConfigSpacesOfTvmTest {
    private static final ObjectMapper MAPPER = JsonMapper.builder()
            .enable(JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS)
            .build();

    private static JsonNode spaces() throws IOException {
        return MAPPER.readTree(
                SharedFolder.need("tvm").resolve("autotvm-spaces.json").toFile());
    }

    private static List<List<Integer>> lists(JsonNode node) {
        return MAPPER.convertValue(
                node,
                MAPPER.getTypeFactory()
                        .constructCollectionType(
                                List.class,
                                MAPPER.getTypeFactory().constructCollectionType(List.class, Integer.class)));
    }

    private static RecordValue value(JsonNode node) {
        if (node.isArray()) {
            List<RecordValue> values = new ArrayList<>();
            node.forEach(item -> values.add(value(item)));
            return new Items(values);
        }
        if (node.isNumber()) {
            return new Numeric(node.asText());
        }
        return node.isNull()
                ? RecordValue.NOTHING
                : node.isBoolean() ? new Flag(node.asBoolean()) : new Text(node.asText());
    }

    private static long last(RecordValue sizes) {
        List<RecordValue> values = ((Items) sizes).values();
        return ((Numeric) values.get(values.size() - 1)).integer().orElseThrow();
    }

    private static Predicate<List<Integer>> filter(JsonNode node) {
        int value = node.path("value").asInt();
        return switch (node.path("kind").asText("")) {
            case "" -> sizes -> true;
            case "last_le" -> sizes -> sizes.get(sizes.size() - 1) <= value;
            case "last_ge" -> sizes -> sizes.get(sizes.size() - 1) >= value;
            case "last_mod" -> sizes -> sizes.get(sizes.size() - 1) % value == 0;
            case "idx_in" ->
                sizes -> {
                    for (JsonNode allowed : node.path("values")) {
                        if (allowed.asInt() == sizes.get(node.path("index").asInt())) {
                            return true;
                        }
                    }
                    return false;
                };
            case "prod_inner_le" ->
                sizes -> sizes.stream().skip(1).mapToLong(i -> i).reduce(1, (a, b) -> a * b) <= value;
            default -> throw new IllegalArgumentException(node.toString());
        };
    }

    private static KnobSpace knob(JsonNode def, JsonNode axes) {
        String name = def.path("name").asText();
        int count = def.path("axes").size();
        String policy = def.path("policy").asText("factors");
        return switch (def.path("fn").asText()) {
            case "define_split" -> split(name, policy, def, axes);
            case "define_reorder" -> reorder(name, policy, def);
            case "define_annotate" ->
                policy.equals("locate_cache")
                        ? AnnotateKnob.locateCache(
                                name, count, def.path("num_anchor").asInt())
                        : AnnotateKnob.of(name, count, policy);
            default -> KnobSpace.ofValues(name, ((Items) value(def.path("candidate"))).values());
        };
    }

    private static KnobSpace split(String name, String policy, JsonNode def, JsonNode axes) {
        if (policy.equals("candidate")) {
            return SplitKnob.candidates(name, lists(def.path("candidate")), filter(def.path("filter")));
        }
        return new SplitKnob(
                        axes.path(def.path("axis").asText()).asInt(),
                        SplitKnob.Policy.valueOf(policy.toUpperCase(Locale.ROOT)),
                        def.path("num_outputs").asInt(),
                        def.path("max_factor").asLong(1L << 31),
                        def.path("no_tail").asBoolean(policy.equals("factors")),
                        filter(def.path("filter")))
                .named(name);
    }

    private static KnobSpace reorder(String name, String policy, JsonNode def) {
        int count = def.path("axes").size();
        return switch (policy) {
            case "identity" -> ReorderKnob.identity(name, count);
            case "all" -> ReorderKnob.all(name, count);
            case "interval_all" ->
                ReorderKnob.interval(
                        name,
                        count,
                        def.path("interval").get(0).asInt(),
                        def.path("interval").get(1).asInt());
            default -> ReorderKnob.candidates(name, lists(def.path("candidate")));
        };
    }

    private static ConfigSpace space(JsonNode tvm) {
        List<KnobSpace> knobs = new ArrayList<>();
        tvm.path("defs").forEach(def -> knobs.add(knob(def, tvm.path("axes"))));
        JsonNode shared = tvm.path("multi_filter");
        if (shared.isMissingNode()) {
            return new ConfigSpace(knobs);
        }
        boolean isSum = shared.path("kind").asText().equals("sum_last_le");
        List<String> names = new ArrayList<>();
        shared.path("names").forEach(name -> names.add(name.asText()));
        return new ConfigSpace(knobs, entities -> {
            long sum = 0;
            long product = 1;
            for (Entity entity : entities) {
                if (names.contains(entity.name())) {
                    sum += last(entity.value());
                    product *= last(entity.value());
                }
            }
            return (isSum ? sum : product) <= shared.path("value").asLong();
        });
    }

    @Test
    @NeedsShared("tvm")
    void lengthsDimensionsAndEntitiesAreTvms() throws IOException {
        int points = 0;
        int unordered = 0;
        for (JsonNode tvm : spaces().path("spaces")) {
            ConfigSpace space = space(tvm);
            String name = "space " + tvm.path("id");
            assertThat(space.dimensions()).as(name).isEqualTo(MAPPER.convertValue(tvm.path("dims"), List.class));
            assertThat(space.range())
                    .as(name)
                    .isEqualTo(tvm.path("range_length").asLong());
            if (tvm.has("multi_filter")) {
                assertThat(space.length()).as(name).isEqualTo(tvm.path("length").asInt());
            }
            boolean isOrdered = true;
            for (JsonNode def : tvm.path("defs")) {
                isOrdered &= !def.path("policy").asText().equals("verbose");
            }
            unordered += isOrdered ? 0 : 1;
            for (JsonNode point : tvm.path("points")) {
                points++;
                long index = point.path("index").asLong();
                assertThat(space.point(index)).isEqualTo(MAPPER.convertValue(point.path("knob"), int[].class));
                if (isOrdered) {
                    Config config = space.config(index).orElseThrow();
                    assertThat(new Items(config.entities().stream()
                                    .<RecordValue>map(e -> Items.of(new Text(e.name()), new Text(e.kind()), e.value()))
                                    .toList()))
                            .as(name + " at " + index)
                            .isEqualTo(value(point.path("entity")));
                } else {
                    holdsEach(space, point);
                }
            }
        }
        assertThat(points).isGreaterThan(200);
        assertThat(unordered).isBetween(1, 20);
    }

    /** The order of a verbose split is that of a Python set: its values are the same, their places are not. */
    private static void holdsEach(ConfigSpace space, JsonNode point) {
        Map<String, HashSet<RecordValue>> values = new HashMap<>();
        space.knobs().forEach(knob -> values.put(knob.name(), new HashSet<>(knob.values())));
        for (JsonNode entity : point.path("entity")) {
            assertThat(values.get(entity.get(0).asText())).contains(value(entity.get(2)));
        }
    }

    @Test
    @NeedsShared("tvm")
    void recordsOfTvmAreFoundInItsSpaces() {
        ConfigSpace dense = new ConfigSpace(List.of(
                new SplitKnob(1, SplitKnob.Policy.FACTORS, 3, 1L << 31, true, sizes -> true).named("tile_y"),
                new SplitKnob(128, SplitKnob.Policy.FACTORS, 3, 1L << 31, true, sizes -> true).named("tile_x")));
        Config read = RecordReader.read(SharedFolder.need("tvm").resolve("autotvm-records.log"))
                .records()
                .get(0)
                .config();
        assertThat(dense.config(read.index()).orElseThrow().entities())
                .isEqualTo(read.entities().subList(0, 2));
    }

    @Test
    void otherPoliciesAreRefused() {
        assertThatThrownBy(() -> AnnotateKnob.of("a", 2, "try_parallel")).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> AnnotateKnob.of("a", 1, "bind_gpu")).isInstanceOf(IllegalArgumentException.class);
    }
}
