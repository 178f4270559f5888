// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.spec;

import io.kiln.artifact.ModelMetadata.Io;
import io.kiln.base.Failure;
import io.kiln.base.NearMiss;
import io.kiln.base.Problems;
import io.kiln.compile.CallOptions;
import io.kiln.compile.CompileOptions;
import io.kiln.executor.PlannedModule.PackedOptions;
import io.kiln.transform.PassOptions;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Settings by the names that TVM's {@code PassContext} has, for people who bring theirs. Each is another name of a
 * parameter of Kiln's, states Kiln's fixed behaviour,
 * or is refused with the reason.
 *
 * @param fuseMaxDepth {@code relay.FuseOps.max_depth}: {@code kiln.fuse.maxDepth}
 * @param linkParams {@code relay.FuseOps.link_params}: {@code kiln.linkParams}
 * @param disableAssert {@code tir.disable_assert}: {@code kiln.disableAssert}
 * @param io {@code tir.usmp.use_workspace_io}: {@code kiln.io}
 */
public record PassConfig(
        Optional<Integer> fuseMaxDepth,
        Optional<Boolean> linkParams,
        Optional<Boolean> disableAssert,
        Optional<Io> io) {
    private static final String FUSE_DEPTH = "relay.FuseOps.max_depth";
    private static final String LINK_PARAMS = "relay.FuseOps.link_params";
    private static final String DISABLE_ASSERT = "tir.disable_assert";
    private static final String WORKSPACE_IO = "tir.usmp.use_workspace_io";

    /** Values of flags that change nothing. */
    private static final List<String> EITHER = List.of("true", "1", "false", "0");

    /** Keys that change nothing here: the values that say what Kiln does, and why there are no others. */
    private static final Map<String, Fixed> FIXED = Map.of(
            "tir.usmp.enable",
            new Fixed(
                    List.of("true", "1"), "memory is always planned ahead: generated code asks for none while it runs"),
            "relay.backend.disable_memory_plan",
            new Fixed(
                    List.of("false", "0"),
                    "memory is always planned ahead: generated code asks for none while it runs"),
            "tir.usmp.algorithm",
            new Fixed(
                    List.of("hill_climb", "greedy_by_size", "greedy_by_conflicts"),
                    "there is one planner, which begins with such orders, climbs hills, and then proves that it cannot"
                            + " do better where that is quick"),
            "tir.usmp.custom_algorithm",
            new Fixed(List.of(""), "the planner cannot be replaced"),
            "tir.disable_vectorize",
            new Fixed(EITHER, "loops are scalar, and kernels use the vectors of kiln.target"),
            "tir.disable_storage_rewrite",
            new Fixed(EITHER, "memory is planned for the whole model"),
            "relay.backend.use_auto_scheduler",
            new Fixed(List.of("false", "0"), "schedules come from rules and tuning records"),
            "relay.backend.use_meta_schedule",
            new Fixed(List.of("false", "0"), "schedules come from rules and tuning records"),
            "tir.enable_debug",
            new Fixed(List.of("false", "0"), "kiln.dumpIr shows the program after each pass"));

    public static final PassConfig NONE =
            new PassConfig(Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty());

    /** A key whose value is fixed. */
    private record Fixed(List<String> values, String why) {}

    /**
     * Reads settings of the form {@code key=value}.
     *
     * @throws io.kiln.base.KilnException with all keys that are unknown or cannot have their value
     */
    public static PassConfig parse(List<String> settings) {
        Problems problems = new Problems(Failure.CONFIG);
        Map<String, String> values = new TreeMap<>();
        for (String setting : settings) {
            int equals = setting.indexOf('=');
            String key = (equals < 0 ? setting : setting.substring(0, equals)).strip();
            String value = equals < 0 ? "" : setting.substring(equals + 1).strip();
            if (equals < 0) {
                problems.add("kiln.passConfig has '" + setting + "'", "", "key=value");
            } else if (values.putIfAbsent(key, value) != null) {
                problems.add("kiln.passConfig sets '" + key + "' twice", "", "one value");
            }
        }
        values.forEach((key, value) -> check(key, value, problems));
        Optional<Integer> depth = number(values, problems);
        Optional<Boolean> linked = flag(values, LINK_PARAMS, problems);
        Optional<Boolean> unchecked = flag(values, DISABLE_ASSERT, problems);
        Optional<Io> io = flag(values, WORKSPACE_IO, problems).map(isShared -> isShared ? Io.WORKSPACE : Io.CALLER);
        problems.throwIfAny();
        return new PassConfig(depth, linked, unchecked, io);
    }

    /** Options with these settings, which take precedence. */
    public CompileOptions over(CompileOptions options) {
        CallOptions calls = options.calls();
        PackedOptions packed = calls.packed();
        PassOptions passes = options.passes();
        return options.with(new PassOptions(fuseMaxDepth.orElse(passes.maxFusionDepth()), passes.disabled()))
                .with(calls.with(io.orElse(calls.io()))
                        .with(calls.executor(), linkParams.orElse(calls.linkParams()))
                        .with(new PackedOptions(
                                packed.systemLibrary(),
                                disableAssert.map(isOff -> !isOff).orElse(packed.checked()))));
    }

    private static void check(String key, String value, Problems problems) {
        TreeSet<String> known = new TreeSet<>(FIXED.keySet());
        known.addAll(List.of(FUSE_DEPTH, LINK_PARAMS, DISABLE_ASSERT, WORKSPACE_IO));
        Fixed fixed = FIXED.get(key);
        if (!known.contains(key)) {
            problems.add(
                    "kiln.passConfig names '" + key + "', which is not known",
                    "",
                    "some of " + String.join(", ", known),
                    NearMiss.didYouMean(key, known));
        } else if (fixed != null && !fixed.values().contains(value.toLowerCase(Locale.ROOT))) {
            problems.add(
                    "kiln.passConfig sets " + key + " to '" + value + "': " + fixed.why(),
                    "",
                    fixed.values().get(0).isEmpty()
                            ? "no value"
                            : fixed.values().get(0),
                    "Leave it out");
        }
    }

    private static Optional<Integer> number(Map<String, String> values, Problems problems) {
        String text = values.get(FUSE_DEPTH);
        if (text == null) {
            return Optional.empty();
        }
        if (!text.matches("[1-9][0-9]{0,8}")) {
            problems.add("kiln.passConfig sets " + FUSE_DEPTH + " to '" + text + "'", "", "1 (no fusion) or more");
            return Optional.empty();
        }
        return Optional.of(Integer.valueOf(text));
    }

    private static Optional<Boolean> flag(Map<String, String> values, String key, Problems problems) {
        String text = values.getOrDefault(key, "").toLowerCase(Locale.ROOT);
        boolean isTrue = List.of("true", "1").contains(text);
        if (values.containsKey(key) && !isTrue && !List.of("false", "0").contains(text)) {
            problems.add("kiln.passConfig sets " + key + " to '" + text + "'", "", "true or false");
        }
        return values.containsKey(key) ? Optional.of(isTrue) : Optional.empty();
    }
}
