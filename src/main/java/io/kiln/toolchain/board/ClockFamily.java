// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.board;

import com.fasterxml.jackson.databind.JsonNode;
import io.kiln.base.Bytes;
import io.kiln.base.Problems;
import io.kiln.base.ResourceTree;
import io.kiln.base.TargetText;
import io.kiln.toolchain.board.BoardFiles.MergedProfile;
import io.kiln.toolchain.board.ClockFamily.Limits;
import io.kiln.toolchain.board.ClockFamily.Range;
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

    /**
     * The clocks of a chip as its start-up code sets them.
     *
     * @param source name of the oscillator, a source of the family
     * @param pll how the core's clock is made from it
     * @param bus what divides the core's clock for the bus of memories
     * @param peripherals what divides the bus's clock for each bus of peripherals
     * @param waitStates wait states of the flash, in cycles of the bus; empty if the clock does not set them
     * @param modes what the regulator needs for it
     */
    public record ClockTree(
            String source, Pll pll, int bus, List<Integer> peripherals, OptionalInt waitStates, Modes modes) {
        public ClockTree {
            peripherals = List.copyOf(peripherals);
        }

        /**
         * A PLL: its oscillator runs at source / divider * factor, the core at an integer part of that.
         *
         * @param hertz of the source
         * @param divider before the PLL
         * @param factor of the PLL
         * @param output divider behind the PLL
         */
        public record Pll(long hertz, int divider, int factor, int output) {
            /** Frequency of the PLL's own oscillator. */
            public long oscillator() {
                return hertz / divider * factor;
            }
        }

        /**
         * Modes of the regulator.
         *
         * @param overdrive whether the core is faster than without over-drive
         * @param scale the voltage scale to choose; empty if that after reset will do
         */
        public record Modes(boolean overdrive, OptionalInt scale) {}

        /** Frequency of the core. */
        public long hertz() {
            return pll.oscillator() / pll.output;
        }

        /** Wait states of the flash in cycles of the core: an access of a slower bus takes several of them. */
        public OptionalInt coreWaitStates() {
            return waitStates.isEmpty() ? waitStates : OptionalInt.of((waitStates.getAsInt() + 1) * bus - 1);
        }

        /** The numbers as macros of C. */
        public List<String> macros() {
            List<String> macros = new ArrayList<>();
            macros.add("KILN_CLOCK_SOURCE_" + source.toUpperCase(Locale.ROOT) + " 1");
            macros.add("KILN_SOURCE_CLOCK " + pll.hertz + "u");
            macros.add("KILN_PLL_DIVIDER " + pll.divider + "u");
            macros.add("KILN_PLL_FACTOR " + pll.factor + "u");
            macros.add("KILN_PLL_CLOCK " + pll.oscillator() + "u");
            macros.add("KILN_PLL_OUTPUT_DIVIDER " + pll.output + "u");
            macros.add("KILN_BUS_DIVIDER " + bus + "u");
            for (int i = 0; i < peripherals.size(); i++) {
                String name = "KILN_PERIPHERALS_" + (i + 1);
                macros.add(name + "_DIVIDER " + peripherals.get(i) + "u");
                macros.add(name + "_CLOCK " + hertz() / bus / peripherals.get(i) + "u");
            }
            waitStates.ifPresent(states -> macros.add("KILN_WAIT_STATES " + states + "u"));
            if (modes.overdrive) {
                macros.add("KILN_OVERDRIVE 1");
            }
            modes.scale.ifPresent(scale -> macros.add("KILN_VOLTAGE_SCALE " + scale));
            return macros;
        }
    }

    /** Reads {@code clock} of a board profile, and makes the settings of the start-up code from it. */
    record ClockParser(MergedProfile profile, Problems problems) {
        private static final long MEGAHERTZ = 1_000_000;

        /**
         * The clock of a board.
         *
         * @param hertz of the core; empty if the profile does not say it
         * @param tree what the start-up code of a family sets up; empty if the profile names no family, or is refused
         * @param hasFamily whether the profile names a family
         */
        record Clock(OptionalLong hertz, Optional<ClockTree> tree, boolean hasFamily) {
            /** Wait states of the flash, in cycles of the core; empty if the clock does not set them, 0 if it is refused. */
            OptionalInt waitStates() {
                return hasFamily && tree.isEmpty()
                        ? OptionalInt.of(0)
                        : tree.map(ClockTree::coreWaitStates).orElse(OptionalInt.empty());
            }

            /** The numbers as macros of C. */
            List<String> macros() {
                List<String> macros = new ArrayList<>();
                hertz.ifPresent(number -> macros.add("KILN_CORE_CLOCK " + number + "u"));
                tree.ifPresent(each -> macros.addAll(each.macros()));
                return macros;
            }
        }

        /** The clock; valid only if no problem was added. */
        Clock read() {
            Optional<JsonNode> found = profile.find("clock");
            if (found.isEmpty()) {
                return new Clock(OptionalLong.empty(), Optional.empty(), false);
            }
            JsonNode node = found.get();
            boolean hasFamily = node.has("family");
            if (!node.has("hertz")) {
                problems.add("the clock has no frequency", profile.where("/clock"), "the key hertz, here or inherited");
                return new Clock(OptionalLong.empty(), Optional.empty(), hasFamily);
            }
            long hertz = node.get("hertz").asLong();
            Optional<ClockFamily> family = hasFamily ? family(node.get("family").asText()) : Optional.empty();
            OptionalLong stated = node.has("limit")
                    ? OptionalLong.of(node.get("limit").asLong())
                    : profile.pack().map(MergedProfile.Layer.Pack::most).orElse(OptionalLong.empty());
            Optional<Limits> limits = family.flatMap(each -> limits(each, stated));
            long most = Math.min(
                    stated.orElse(Long.MAX_VALUE), limits.map(Limits::hertz).orElse(Long.MAX_VALUE));
            if (hertz > most) {
                problems.add(
                        "the core would run at " + text(hertz) + ", and " + model() + " bears " + text(most),
                        profile.where("/clock/hertz"),
                        "at most " + most,
                        "Say clock: {hertz: " + most + "} in the board's own board.yaml");
                return new Clock(OptionalLong.of(hertz), Optional.empty(), hasFamily);
            }
            return new Clock(
                    OptionalLong.of(hertz),
                    limits.flatMap(each -> tree(family.orElseThrow(), node, hertz, each)),
                    hasFamily);
        }

        private Optional<ClockFamily> family(String name) {
            SortedMap<String, ClockFamily> all = ClockFamily.all();
            if (!all.containsKey(name)) {
                problems.add(
                        "there is no family of clocks " + name,
                        profile.where("/clock/family"),
                        "one of " + String.join(", ", all.keySet()));
            }
            return Optional.ofNullable(all.get(name));
        }

        /** What the chip bears. Of a chip that the family does not know, a profile has to state the limit; its buses count as the slowest ones. */
        private Optional<Limits> limits(ClockFamily family, OptionalLong stated) {
            Optional<Limits> known = family.limits(model());
            if (known.isEmpty() && stated.isEmpty()) {
                problems.add(
                        "how fast " + model() + " may run is not known",
                        profile.where("/clock/family"),
                        "-model in the target that begins with one of "
                                + String.join(", ", family.devices().keySet()) + ", or the key limit");
            }
            return known.or(() -> family.devices().values().stream()
                    .reduce((a, b) ->
                            a.peripherals().toString().compareTo(b.peripherals().toString()) <= 0 ? a : b)
                    .filter(slowest -> stated.isPresent())
                    .map(slowest -> new Limits(
                            stated.getAsLong(),
                            slowest.bus(),
                            slowest.peripherals(),
                            OptionalLong.empty(),
                            OptionalInt.empty())));
        }

        private Optional<ClockTree> tree(ClockFamily family, JsonNode node, long hertz, Limits limits) {
            String source = node.path("source").asText("internal");
            Range range = family.sources().get(source);
            if (range == null) {
                problems.add(
                        "chips of the family " + family.id() + " have no clock source " + source,
                        profile.where("/clock"),
                        "as source one of " + String.join(", ", family.sources().keySet()));
                return Optional.empty();
            }
            boolean isFixed = range.least() == range.most();
            long sourceHertz = node.path("sourceHertz").asLong(isFixed ? range.least() : 0);
            if (!range.has(sourceHertz)) {
                problems.add(
                        "the clock source " + source + " runs at "
                                + (sourceHertz == 0 ? "a frequency that is not said" : text(sourceHertz)),
                        profile.where("/clock"),
                        "as sourceHertz " + range.least() + (isFixed ? "" : " to " + range.most()));
                return Optional.empty();
            }
            Optional<ClockTree> tree = family.tree(source, sourceHertz, hertz, limits);
            if (tree.isEmpty()) {
                problems.add(
                        text(hertz) + " cannot be made from " + text(sourceHertz),
                        profile.where("/clock/hertz"),
                        "a frequency that the PLL makes, such as " + nearest(family, sourceHertz, hertz, limits));
            }
            return tree;
        }

        /** The next whole megahertz below that the PLL makes. */
        private static String nearest(ClockFamily family, long source, long hertz, Limits limits) {
            return LongStream.iterate(
                            Math.min(hertz, limits.hertz()) / MEGAHERTZ, number -> number > 0, number -> number - 1)
                    .map(number -> number * MEGAHERTZ)
                    .filter(number -> family.tree("", source, number, limits).isPresent())
                    .mapToObj(Long::toString)
                    .findFirst()
                    .orElse(Long.toString(limits.hertz()));
        }

        private String model() {
            List<String> words = profile.find("target")
                    .map(JsonNode::asText)
                    .map(text -> {
                        List<String> parts = TargetText.parts(text);
                        return List.of(parts.get(parts.size() - 1).split(" ", -1));
                    })
                    .orElse(List.of());
            return words.stream()
                    .filter(word -> word.startsWith("-model="))
                    .map(word -> word.substring("-model=".length()))
                    .findFirst()
                    .orElse("a chip without -model in its target");
        }

        private static String text(long hertz) {
            return String.format(Locale.ROOT, "%,d Hz", hertz);
        }
    }
}
