// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.board;

import com.fasterxml.jackson.databind.JsonNode;
import io.kiln.base.Bytes;
import io.kiln.base.ResourceTree;
import io.kiln.toolchain.yaml.YamlDocument;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.LongStream;

/**
 * Chips whose clocks one start-up code sets, {@code toolchains/clocks/*.yaml}.
 *
 * @param id name of the file
 * @param sources the oscillators by name, with what they may run at
 * @param pll what the PLL can do
 * @param hertzOfWaitState the bus may be faster by this with each wait state of the flash; empty if the clock does not set them
 * @param devices the chips by name, with what they bear; a name stands for all that begin with it
 */
public record ClockFamily(
        String id,
        SortedMap<String, Range> sources,
        PllRange pll,
        OptionalLong hertzOfWaitState,
        SortedMap<String, Limits> devices) {
    private static final String FOLDER = "toolchains/clocks";

    private static final List<Integer> BUS_DIVIDERS = List.of(1, 2, 4, 8, 16);

    /** Numbers from the least to the most, both included. */
    public record Range(long least, long most) {
        /** Whether a number is one of them. */
        public boolean has(long number) {
            return least <= number && number <= most;
        }

        private static Range of(JsonNode node) {
            return node.isArray()
                    ? new Range(node.get(0).asLong(), node.get(1).asLong())
                    : new Range(node.asLong(), node.asLong());
        }
    }

    /**
     * What a PLL can do.
     *
     * @param input frequency behind its divider
     * @param wanted the best of these
     * @param divider before it
     * @param factor of it
     * @param oscillator frequency of its own oscillator
     * @param outputs dividers behind it
     */
    public record PllRange(
            Range input, long wanted, Range divider, Range factor, Range oscillator, List<Integer> outputs) {
        public PllRange {
            outputs = List.copyOf(outputs);
        }

        private static PllRange of(JsonNode node) {
            JsonNode input = node.get("input");
            List<Integer> outputs = new ArrayList<>();
            node.get("outputs").forEach(output -> outputs.add(output.asInt()));
            return new PllRange(
                    new Range(input.get("least").asLong(), input.get("most").asLong()),
                    input.get("wanted").asLong(),
                    Range.of(node.get("divider")),
                    Range.of(node.get("factor")),
                    Range.of(node.get("oscillator")),
                    outputs);
        }

        /** The setting whose input comes closest to the wanted one, with the slowest oscillator. */
        private Optional<ClockTree.Pll> settings(long source, long hertz) {
            List<Long> dividers = LongStream.rangeClosed(divider.least, divider.most)
                    .filter(by -> source % by == 0 && input.has(source / by))
                    .boxed()
                    .sorted(Comparator.comparingLong(by -> Math.abs(source / by - wanted)))
                    .toList();
            for (long by : dividers) {
                for (int output : outputs) {
                    long own = hertz * output;
                    long times = own / (source / by);
                    if (oscillator.has(own) && own % (source / by) == 0 && factor.has(times)) {
                        return Optional.of(new ClockTree.Pll(source, (int) by, (int) times, output));
                    }
                }
            }
            return Optional.empty();
        }
    }

    /**
     * What a chip bears.
     *
     * @param hertz the core
     * @param bus the bus of memories
     * @param peripherals each bus of peripherals
     * @param overdrive beyond this the regulator needs over-drive
     * @param scale the voltage scale to choose for it; empty if that after reset will do
     */
    public record Limits(long hertz, long bus, List<Long> peripherals, OptionalLong overdrive, OptionalInt scale) {
        public Limits {
            peripherals = List.copyOf(peripherals);
        }

        private static Limits of(JsonNode node) {
            List<Long> peripherals = new ArrayList<>();
            node.path("peripherals").forEach(limit -> peripherals.add(limit.asLong()));
            long hertz = node.get("hertz").asLong();
            return new Limits(
                    hertz,
                    node.path("bus").asLong(hertz),
                    peripherals,
                    node.has("overdrive")
                            ? OptionalLong.of(node.get("overdrive").asLong())
                            : OptionalLong.empty(),
                    node.has("scale") ? OptionalInt.of(node.get("scale").asInt()) : OptionalInt.empty());
        }
    }

    /** All families by their ids. */
    public static SortedMap<String, ClockFamily> all() {
        SortedMap<String, ClockFamily> all = new TreeMap<>();
        ResourceTree.read(FOLDER).forEach((file, content) -> all.put(file.replace(".yaml", ""), of(file, content)));
        return all;
    }

    private static ClockFamily of(String file, Bytes content) {
        JsonNode root = YamlDocument.parse(file, content).root();
        SortedMap<String, Range> sources = new TreeMap<>();
        root.get("sources").properties().forEach(each -> sources.put(each.getKey(), Range.of(each.getValue())));
        SortedMap<String, Limits> devices = new TreeMap<>();
        root.get("devices")
                .forEach(device -> device.get("names").forEach(name -> devices.put(name.asText(), Limits.of(device))));
        return new ClockFamily(
                root.get("id").asText(),
                sources,
                PllRange.of(root.get("pll")),
                root.has("hertzOfWaitState")
                        ? OptionalLong.of(root.get("hertzOfWaitState").asLong())
                        : OptionalLong.empty(),
                devices);
    }

    /**
     * What a chip bears, by the longest name that its own begins with; empty for chips of other families.
     *
     * @param model name of the chip, such as {@code stm32f411}
     */
    public Optional<Limits> limits(String model) {
        String name = model.toLowerCase(Locale.ROOT);
        return devices.entrySet().stream()
                .filter(device -> name.startsWith(device.getKey()))
                .max(Comparator.comparingInt(device -> device.getKey().length()))
                .map(Map.Entry::getValue);
    }

    /**
     * The settings for a frequency of the core; empty if the PLL cannot make it exactly.
     *
     * @param source name of the oscillator
     * @param sourceHertz what it runs at
     * @param hertz what the core is to run at
     * @param limits what the chip bears
     */
    public Optional<ClockTree> tree(String source, long sourceHertz, long hertz, Limits limits) {
        return pll.settings(sourceHertz, hertz).map(settings -> {
            int bus = divider(hertz, limits.bus);
            List<Integer> peripherals = limits.peripherals.stream()
                    .map(limit -> divider(hertz / bus, limit))
                    .toList();
            OptionalInt states = hertzOfWaitState.isEmpty()
                    ? OptionalInt.empty()
                    : OptionalInt.of((int) ((hertz / bus - 1) / hertzOfWaitState.getAsLong()));
            boolean overdrive = limits.overdrive.isPresent() && hertz > limits.overdrive.getAsLong();
            return new ClockTree(
                    source, settings, bus, peripherals, states, new ClockTree.Modes(overdrive, limits.scale));
        });
    }

    private static int divider(long hertz, long limit) {
        return BUS_DIVIDERS.stream()
                .filter(by -> hertz <= limit * by)
                .findFirst()
                .orElse(BUS_DIVIDERS.get(BUS_DIVIDERS.size() - 1));
    }
}
