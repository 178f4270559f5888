// SPDX-License-Identifier: Apache-2.0
package io.kiln.bench;

import io.kiln.artifact.InterfaceNames;
import io.kiln.artifact.ModelMetadata;
import io.kiln.artifact.OperatorInfo;
import io.kiln.bench.BenchData.Row;
import io.kiln.bench.BenchImage.Setting;
import io.kiln.bench.Disassembly.Tally;
import io.kiln.cycles.core.CycleRange;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * One row, measured.
 *
 * @param row its id
 * @param kind what {@code count} counts: {@code instructions}, thousandths of a regular layer's cost in {@code layers}, bytes of {@code ram} or {@code flash}, or milliseconds to {@code generate} C
 * @param count what was measured
 * @param goal what it shall not exceed; 0 if there is none
 * @param peer the peer's count; 0 if it is not known
 * @param timesGoal count by goal: 1 or less is good
 * @param timesFewer the peer's count by this one; 0 if it is not known
 * @param met whether the goal is met, by an image that is bit exact and whose stack is small enough
 * @param images everything measured on the image; rows of RAM have a second one, with {@code optimize=speed}
 */
record BenchResult(
        String row,
        String kind,
        long count,
        long goal,
        long peer,
        double timesGoal,
        double timesFewer,
        boolean met,
        List<Figures> images) {

    /**
     * What is measured on every image. Bytes are those of the archive, with {@code mem*} and what the compiler's own library adds.
     *
     * @param optimize as it was built
     * @param io as it was built
     * @param bitExact whether all outputs of all cases are the golden ones
     * @param instructions one inference
     * @param cycles of one inference, estimated without wait states
     * @param loads items loaded, each register of a multiple load for itself; a vector load is one
     * @param stores likewise
     * @param takenBranches branches, calls and returns taken
     * @param library functions that are not the archive's
     * @param operators in execution order, behind the entry point; empty unless asked for
     */
    record Figures(
            String optimize,
            String io,
            boolean bitExact,
            long instructions,
            CycleRange cycles,
            long loads,
            long stores,
            long takenBranches,
            long text,
            long rodata,
            long data,
            long bss,
            long stack,
            List<String> library,
            List<Operator> operators) {
        /** The figures of an image; operators one by one if asked for. */
        static Figures of(Setting setting, BenchImage image, BenchRun run, boolean perOperator) {
            Tally all = run.tallies().stream().reduce(new Tally(0, 0, 0, 0), Tally::plus);
            return new Figures(
                    setting.optimize().text(),
                    setting.io().text(),
                    run.bitExact(),
                    run.instructions(),
                    run.cycles().whole().cycles(),
                    all.loads(),
                    all.stores(),
                    all.taken(),
                    image.section(".text"),
                    image.section(".rodata"),
                    image.section(".data"),
                    image.section(".bss"),
                    run.stack(),
                    List.copyOf(image.library()),
                    perOperator ? operators(image.metadata(), run) : List.of());
        }

        private static List<Operator> operators(ModelMetadata model, BenchRun run) {
            List<Tally> tallies = run.tallies();
            List<Operator> operators = new ArrayList<>();
            Tally entry = tallies.get(0);
            operators.add(new Operator(
                    new InterfaceNames(model.name()).prefix() + "_run",
                    "",
                    0,
                    0,
                    entry.instructions(),
                    run.cycles(0),
                    entry.loads(),
                    entry.stores(),
                    entry.taken()));
            for (int i = 0; i < model.operators().size(); i++) {
                OperatorInfo info = model.operators().get(i);
                Tally tally = tallies.get(i + 1);
                operators.add(new Operator(
                        info.name(),
                        info.schedule(),
                        info.macs() == 0 ? info.executedMacs() : info.macs(),
                        info.executedMacs(),
                        tally.instructions(),
                        run.cycles(i + 1),
                        tally.loads(),
                        tally.stores(),
                        tally.taken()));
            }
            return operators;
        }

        long ram() {
            return data + bss + stack;
        }

        long flash() {
            return text + rodata + data;
        }
    }

    /** One operator, with what it calls. */
    record Operator(
            String name,
            String schedule,
            long macs,
            long executedMacs,
            long instructions,
            CycleRange cycles,
            long loads,
            long stores,
            long takenBranches) {}

    static BenchResult of(Row row, long count, boolean met, List<Figures> images) {
        long goal = row.goal().goal();
        long peer = row.goal().peer();
        return new BenchResult(
                row.id(),
                row.kind().name().toLowerCase(Locale.ROOT),
                count,
                goal,
                peer,
                goal == 0 ? 0 : rounded((double) count / goal),
                rounded((double) peer / count),
                met && count <= goal && images.stream().allMatch(Figures::bitExact),
                images);
    }

    private static double rounded(double value) {
        return Math.round(value * 1000) / 1000.0;
    }
}
