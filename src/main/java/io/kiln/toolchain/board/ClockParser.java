// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.board;

import com.fasterxml.jackson.databind.JsonNode;
import io.kiln.base.Problems;
import io.kiln.base.TargetText;
import io.kiln.toolchain.board.ClockFamily.Limits;
import io.kiln.toolchain.board.ClockFamily.Range;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.SortedMap;
import java.util.stream.LongStream;

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
