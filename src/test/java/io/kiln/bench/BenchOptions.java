// SPDX-License-Identifier: Apache-2.0
package io.kiln.bench;

import io.kiln.artifact.ModelMetadata.Io;
import io.kiln.base.Optimize;
import io.kiln.bench.BenchData.Row;
import io.kiln.reference.SharedFolder;
import io.kiln.tuning.task.Objective.Metric;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * How the bench is called: {@code Bench [filter]... [--per-operator] [--untuned|--compare[=instructions]] [--optimize=speed|size|ram] [--io=caller|workspace]
 * [--model=NAME]... [--golden=DIR] [--out=DIR]}.
 *
 * @param filters rows to measure, such as {@code kws-m4f}, {@code vww-gnu}, {@code ram-clang}; also several in one word, separated by
 *     commas; none for all rows
 * @param perOperator whether operators are shown one by one
 * @param tuning whether the records that come with Kiln are followed, or the rules choose all schedules
 * @param optimize instead of what the row is measured with
 * @param io likewise
 * @param models folders of golden models that are no rows: each is measured on the cores and with the toolchains that the filters name, as in
 *     {@code --model=fc_relu6 fc_relu6-m4f-gnu}
 * @param golden folder of the golden models
 * @param out where images, listings and {@code bench.json} go
 */
record BenchOptions(
        List<String> filters,
        boolean perOperator,
        Tuning tuning,
        Optional<Optimize> optimize,
        Optional<Io> io,
        List<String> models,
        Path golden,
        Path out) {

    /** Which builds are measured. */
    enum Tuning {
        /** With the records that come with Kiln. */
        TUNED,
        /** Without. */
        UNTUNED,
        /** Rows of instructions with and without: a row fails that the records make slower or larger. */
        BOTH,
        /** Likewise with the records that come with Kiln for {@code kiln.tune.objective=instructions}. */
        BOTH_FOR_INSTRUCTIONS;

        /** What the records minimise that are followed; empty for none. */
        Optional<Metric> objective() {
            return switch (this) {
                case TUNED, BOTH -> Optional.of(Metric.CYCLES);
                case UNTUNED -> Optional.empty();
                case BOTH_FOR_INSTRUCTIONS -> Optional.of(Metric.INSTRUCTIONS);
            };
        }

        boolean compares() {
            return this == BOTH || this == BOTH_FOR_INSTRUCTIONS;
        }
    }

    /** Reads a command line; an argument may hold several words. */
    static BenchOptions parse(List<String> args) {
        List<String> filters = new ArrayList<>();
        boolean perOperator = false;
        Tuning tuning = Tuning.TUNED;
        Optional<Optimize> optimize = Optional.empty();
        Optional<Io> io = Optional.empty();
        List<String> models = new ArrayList<>();
        Path golden = SharedFolder.ROOT.resolve("golden");
        Path out = Path.of("target", "bench");
        for (String arg : words(args)) {
            String value = arg.substring(arg.indexOf('=') + 1);
            if (arg.equals("--per-operator")) {
                perOperator = true;
            } else if (arg.equals("--untuned")) {
                tuning = Tuning.UNTUNED;
            } else if (arg.equals("--compare")) {
                tuning = Tuning.BOTH;
            } else if (arg.equals("--compare=instructions")) {
                tuning = Tuning.BOTH_FOR_INSTRUCTIONS;
            } else if (arg.startsWith("--optimize=")) {
                optimize = Optional.of(Optimize.of(value));
            } else if (arg.startsWith("--io=")) {
                io = Optional.of(Io.valueOf(value.toUpperCase(Locale.ROOT)));
            } else if (arg.startsWith("--model=")) {
                models.add(value);
            } else if (arg.startsWith("--golden=")) {
                golden = Path.of(value);
            } else if (arg.startsWith("--out=")) {
                out = Path.of(value);
            } else if (arg.startsWith("--")) {
                throw new IllegalArgumentException("unknown option " + arg);
            } else {
                filters.addAll(List.of(arg.split(",", -1)));
            }
        }
        Path folder = out.toAbsolutePath().normalize();
        return new BenchOptions(
                List.copyOf(filters), perOperator, tuning, optimize, io, List.copyOf(models), golden, folder);
    }

    private static List<String> words(List<String> args) {
        return Arrays.stream(String.join(" ", args).split("\\s+", -1))
                .filter(word -> !word.isEmpty())
                .toList();
    }

    /** Whether a row is to be measured. */
    boolean selects(Row row) {
        return filters.isEmpty() || filters.stream().anyMatch(row::matches);
    }
}
