// SPDX-License-Identifier: Apache-2.0
package io.kiln.tuning.task;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Optimize;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** The cost that a search minimises. */
public sealed interface Objective {
    /** Nanoseconds in a second, the unit of costs in records. */
    double NANOSECONDS = 1e9;

    /** The objective's text in {@code kiln.tune.objective} and in the arguments of a task. */
    String text();

    /** The quantities that must be measured for it. */
    Set<Metric> metrics();

    /**
     * A cost for people, such as {@code 5,699 cycles a call}.
     *
     * @param seconds as in records, where a count or a byte is a nanosecond, and so is the whole cost of a mix in units of its weights
     */
    String cost(double seconds);

    /** A single quantity of an operator. */
    enum Metric implements Objective {
        /** Instructions of one call, counted by the emulator. */
        INSTRUCTIONS,
        /** Cycles of one call, estimated from the executed instructions and the core's timing. */
        CYCLES,
        /** The same with the waits of the board's flash and its caches. */
        BOARD_CYCLES,
        /** Time of one call at the board's clock. */
        TIME,
        /** Bytes of code and constants. */
        SIZE,
        /** Bytes of scratch. */
        RAM;

        @Override
        public String text() {
            return name().toLowerCase(Locale.ROOT).replace('_', '-');
        }

        @Override
        public Set<Metric> metrics() {
            return Set.of(this);
        }

        @Override
        public String cost(double seconds) {
            double nanoseconds = seconds * NANOSECONDS;
            return switch (this) {
                case TIME -> String.format(Locale.ROOT, "%.3f us a call", nanoseconds / 1000);
                case SIZE -> String.format(Locale.ROOT, "%,d bytes of code and constants", Math.round(nanoseconds));
                case RAM -> String.format(Locale.ROOT, "%,d bytes of scratch", Math.round(nanoseconds));
                default ->
                    String.format(Locale.ROOT, "%,d %s a call", Math.round(nanoseconds), text().replace('-', ' '));
            };
        }

        static Optional<Metric> of(String text) {
            return Arrays.stream(values())
                    .filter(metric -> metric.text().equals(text))
                    .findFirst();
        }
    }

    /**
     * A weighted sum of quantities, each relative to that of the configuration that the rules choose.
     *
     * @param weights positive weights
     */
    record Mix(Map<Metric, Double> weights) implements Objective {
        public Mix {
            weights = Collections.unmodifiableMap(new TreeMap<>(weights));
        }

        @Override
        public Set<Metric> metrics() {
            return weights.keySet();
        }

        @Override
        public String text() {
            return weights.entrySet().stream()
                    .map(part -> part.getKey().text() + ":" + part.getValue())
                    .collect(Collectors.joining(","));
        }

        @Override
        public String cost(double seconds) {
            return String.format(Locale.ROOT, "%.3f by %s", seconds * NANOSECONDS, text());
        }
    }

    /**
     * Reads an objective: a quantity such as {@code instructions}, or several with weights such as {@code instructions:1,size:0.2}.
     *
     * @throws KilnException for anything else
     */
    static Objective parse(String text) {
        return find(text)
                .orElseThrow(() -> Failure.TUNE.exception(
                        "kiln.tune.objective is '" + text + "'",
                        "",
                        "instructions, cycles, board-cycles, time, size or ram, or several with positive weights such"
                                + " as instructions:1,size:0.2",
                        "Correct kiln.tune.objective"));
    }

    /** As {@link #parse}; empty for anything else. */
    static Optional<Objective> find(String text) {
        Optional<Metric> single = Metric.of(text.strip());
        if (single.isPresent()) {
            return Optional.of(single.get());
        }
        Map<Metric, Double> weights = new TreeMap<>();
        for (String part : text.split(",", -1)) {
            String[] words = part.strip().split(":", -1);
            Optional<Metric> metric = Metric.of(words[0]);
            Optional<Double> weight = words.length == 2 ? weight(words[1]) : Optional.empty();
            if (metric.isEmpty() || weight.isEmpty() || weights.put(metric.get(), weight.get()) != null) {
                return Optional.empty();
            }
        }
        return Optional.of(new Mix(weights));
    }

    private static Optional<Double> weight(String text) {
        try {
            return Optional.of(Double.parseDouble(text)).filter(weight -> weight > 0 && !Double.isInfinite(weight));
        } catch (NumberFormatException e) {
            return Optional.empty();
        }
    }

    /** Whether builds with this value of {@code kiln.optimize} follow records of this objective. */
    default boolean isFollowed(Optimize optimize) {
        return this instanceof Mix || followed(optimize).contains(this);
    }

    /** The objectives whose records a build follows, the first that has one; a mix only matters to whoever asks for it. */
    static List<Metric> followed(Optimize optimize) {
        return switch (optimize) {
            case SPEED -> List.of(Metric.BOARD_CYCLES, Metric.CYCLES, Metric.TIME, Metric.INSTRUCTIONS);
            case SIZE -> List.of(Metric.SIZE);
            case RAM -> List.of(Metric.RAM, Metric.BOARD_CYCLES, Metric.CYCLES, Metric.TIME, Metric.INSTRUCTIONS);
        };
    }
}
