// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.build;

import io.kiln.base.Bytes;
import io.kiln.base.Log;
import io.kiln.base.incremental.Fingerprint;
import io.kiln.cycles.core.CoreTables;
import io.kiln.flow.resolve.ResolvedBuild;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.TuneSpec.RecordsSpec;
import io.kiln.target.InstructionCache;
import io.kiln.target.Target;
import io.kiln.tuning.record.HistoryBest;
import io.kiln.tuning.record.RecordFiles;
import io.kiln.tuning.record.RecordFiles.SharedRecords;
import io.kiln.tuning.record.RecordFiles.ShippedRecords;
import io.kiln.tuning.record.RecordReader;
import io.kiln.tuning.record.TuningRecord;
import io.kiln.tuning.task.Objective.Metric;
import io.kiln.tuning.task.RecordedChoices.ForeignRecords;
import io.kiln.tuning.task.TaskKeys;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The tuning records that a build follows: the project's own, those in the board's profile, and those of dependencies; for layers that have
 * none there, those that come with Kiln.
 */
public final class BoardRecords {
    /** The file of a profile that has records. */
    private static final String IN_PROFILE = "tuning.log";

    /** Objectives of records that may cost instructions. */
    private static final Set<String> IN_CYCLES =
            Set.of(Metric.CYCLES.text(), Metric.BOARD_CYCLES.text(), Metric.TIME.text());

    private BoardRecords() {}

    /** The log that {@code kiln:tune} writes, whether or not it exists: the one that is named, or the board's in the project. */
    public static Path log(BuildSpec spec) {
        return spec.compiler().records().own().orElseGet(() -> spec.layout().tuningRecords(spec.board()));
    }

    private static Optional<Path> file(BuildSpec spec) {
        return Optional.of(log(spec)).filter(Files::isRegularFile);
    }

    private static Optional<RecordReader.Log> own(BuildSpec spec) {
        return file(spec).map(RecordReader::read);
    }

    private static Optional<Bytes> content(ResolvedBuild build) {
        return Optional.ofNullable(build.board().files().get(IN_PROFILE));
    }

    private static Optional<RecordReader.Log> profile(ResolvedBuild build) {
        return content(build)
                .map(bytes -> RecordReader.parse(bytes.text(), build.board().origin() + ", " + IN_PROFILE));
    }

    /** The best records for the build. */
    static HistoryBest best(ResolvedBuild build) {
        List<TuningRecord> all = new ArrayList<>(RecordFiles.merge(List.of(
                own(build.spec()).map(RecordReader.Log::records).orElse(List.of()),
                profile(build).map(RecordReader.Log::records).orElse(List.of()),
                shared(build.spec()))));
        all.removeIf(followed(build).negate());
        Set<String> layers = all.stream()
                .filter(record -> record.result().isMeasured())
                .map(record -> TaskKeys.layer(record.task()))
                .collect(Collectors.toSet());
        shipped(build)
                .filter(record -> !layers.contains(TaskKeys.layer(record.task())))
                .forEach(all::add);
        return new HistoryBest(all);
    }

    /**
     * Whether a record was searched for what the build wants: instructions if it says so, or if nobody can tell the cycles of its core.
     * Fewer instructions may be more cycles. Cycles with the waits of a board's flash hold for boards whose cache of code is of the same class and no
     * smaller.
     */
    private static Predicate<TuningRecord> followed(ResolvedBuild build) {
        Set<String> others = Set.of();
        if (build.spec().compiler().records().isForInstructions()) {
            others = IN_CYCLES;
        } else if (isTimed(build)) {
            others = Set.of(Metric.INSTRUCTIONS.text());
        }
        Set<String> objectives = others;
        return record -> !objectives.contains(TaskKeys.objective(record.task())) && !isOfOtherCache(build, record);
    }

    /** Those of cycles or instructions, and those of the board's cycles, which come first. */
    private static Stream<TuningRecord> shipped(ResolvedBuild build) {
        RecordsSpec followed = build.spec().compiler().records();
        Stream<TuningRecord> usual =
                ShippedRecords.of(core(build), followed.speed().text()).stream();
        return followed.isForInstructions()
                ? usual
                : Stream.concat(usual, ShippedRecords.ofBoardCycles(core(build), build.target()).stream());
    }

    /** Whether a record was searched for a board whose flash waits in another way: its cache of code is of another class, or larger. */
    private static boolean isOfOtherCache(ResolvedBuild build, TuningRecord record) {
        return TaskKeys.objective(record.task()).equals(Metric.BOARD_CYCLES.text())
                && !InstructionCache.holds(record.task().target(), build.target());
    }

    /** Whether the cycles of the build's core can be estimated. */
    public static boolean isTimed(ResolvedBuild build) {
        return CoreTables.find(build.toolchain().cpu()).isPresent();
    }

    private static List<TuningRecord> shared(BuildSpec spec) {
        return spec.compiler().records().shared().stream()
                .flatMap(log -> SharedRecords.read(log).records().stream())
                .toList();
    }

    /** The best records without the project's own. */
    public static HistoryBest given(ResolvedBuild build) {
        BuildSpec spec = build.spec();
        Path none = log(spec).resolveSibling("no-records");
        RecordsSpec others = spec.compiler().records().with(none);
        BuildSpec other = spec.with(spec.compiler().with(others));
        return best(build.with(other, build.runsOn()));
    }

    private static String core(ResolvedBuild build) {
        return TaskKeys.core(Target.parse(build.board().target()));
    }

    /** Adds the records of the project and of dependencies to what the generated code depends on; a board and Kiln bring their own. */
    static Fingerprint addTo(Fingerprint fingerprint, ResolvedBuild build) {
        file(build.spec()).ifPresent(records -> fingerprint.value("tuning records", records));
        content(build).ifPresent(records -> fingerprint.value("tuning records of the board", records));
        return fingerprint.value("shared tuning records", RecordFiles.text(shared(build.spec())));
    }

    /** Logs which records a build follows, and what is wrong with them. */
    static void announce(ResolvedBuild build, Log log) {
        own(build.spec())
                .ifPresent(read -> announce(build, read, log(build.spec()).toString(), log));
        profile(build)
                .ifPresent(read -> announce(
                        build, read, "the profile of the board " + build.board().id(), log));
        build.spec()
                .compiler()
                .records()
                .shared()
                .forEach(shared -> announce(
                        build, SharedRecords.read(shared), shared.getFileName().toString(), log));
    }

    private static void announce(ResolvedBuild build, RecordReader.Log read, String where, Log log) {
        List<TuningRecord> records = read.records();
        log.info(records.size() + " tuning records in " + where);
        read.warnings().forEach(log::warn);
        boolean isForInstructions = build.spec().compiler().records().isForInstructions();
        long ofOtherCaches =
                records.stream().filter(record -> isOfOtherCache(build, record)).count();
        if (ofOtherCaches > 0) {
            log.info(ofOtherCaches
                    + " of them are not followed, because they were searched for boards whose cache of code"
                    + " is larger or of another class: tune again");
        }
        long others = records.stream().filter(followed(build).negate()).count() - ofOtherCaches;
        if (others > 0) {
            log.info(others + " of them are not followed, because they were searched for "
                    + (isForInstructions ? "cycles or time" : "fewer instructions, which may take more cycles")
                    + ": tune again, or build "
                    + (isForInstructions ? "without" : "with") + " kiln.tune.objective=instructions");
        }
        ForeignRecords.said(read.records(), where).ifPresent(log::info);
    }
}
