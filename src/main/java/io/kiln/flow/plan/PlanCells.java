// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.plan;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.NearMiss;
import io.kiln.base.ParameterValue;
import io.kiln.farm.desk.Labels;
import io.kiln.farm.job.FarmJob;
import io.kiln.farm.link.FarmMember;
import io.kiln.farm.state.FarmUnit;
import io.kiln.flow.plan.PlanCells.PlanCell.Missing;
import io.kiln.flow.plan.TestPlan.Match;
import io.kiln.flow.plan.TestPlan.Run;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.flow.spec.BuildSpec.VerifyOn;
import io.kiln.process.Executables;
import io.kiln.report.PlanReport.Cell;
import io.kiln.report.PlanReport.Result;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.board.Boards;
import io.kiln.toolchain.board.Emulation;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * Finds out what a plan asks for.
 *
 * @param boards that the build knows
 * @param farm what the farm has; empty without a farm
 * @param usual labels that all jobs of the build need
 */
record PlanCells(Boards boards, Optional<List<FarmUnit>> farm, Labels usual) {
    private static final int MOST = 1000;

    /**
     * A board that may run images.
     *
     * @param unit as in {@link PlanCell}
     */
    private record Place(String board, String unit) {}

    /**
     * All cells of a plan, each once.
     *
     * @throws KilnException if there are more than a thousand
     */
    List<PlanCell> of(TestPlan plan, List<ModelSource> models) {
        Set<PlanCell> cells = new LinkedHashSet<>();
        for (Run run : plan.runs()) {
            Labels needs = needs(run);
            List<ModelSource> chosen = models.stream()
                    .filter(model -> run.models().stream().anyMatch(pattern -> Labels.matches(model.name(), pattern)))
                    .toList();
            Map<String, List<Place>> found = new TreeMap<>();
            run.boards().forEach(pattern -> found.put(pattern, places(run, pattern, needs)));
            for (ModelSource model : chosen) {
                cells(run, needs, found, model, cells);
            }
            if (cells.size() > MOST) {
                throw Failure.TEST.exception(
                        "the plan asks for " + cells.size() + " verifications", run.where(), MOST + " at most");
            }
        }
        return List.copyOf(cells);
    }

    private Labels needs(Run run) {
        Labels all = usual;
        for (Map.Entry<String, String> need : run.needs().values().entrySet()) {
            all = all.with(need.getKey(), need.getValue());
        }
        return Labels.parse(run.where() + ", kiln.farm.needs", all.text());
    }

    private void cells(Run run, Labels needs, Map<String, List<Place>> found, ModelSource model, Set<PlanCell> cells) {
        List<Place> all = run.boards().stream()
                .flatMap(pattern -> found.get(pattern).stream())
                .distinct()
                .toList();
        if (run.match() == Match.ANY) {
            String pattern = String.join(", ", run.boards());
            cells.add(all.isEmpty() ? missing(run, needs, model, pattern) : cell(run, needs, model, all.get(0)));
            return;
        }
        for (String pattern : run.boards()) {
            if (found.get(pattern).isEmpty()) {
                cells.add(missing(run, needs, model, pattern));
            }
            found.get(pattern).forEach(place -> cells.add(cell(run, needs, model, place)));
        }
    }

    private static PlanCell cell(Run run, Labels needs, ModelSource model, Place place) {
        String[] unit = place.unit().split("/", -1);
        Labels own = unit.length == 2 ? new Labels(Map.of("worker", unit[0], "slot", unit[1])) : needs;
        return new PlanCell(model, place.board(), run.on(), place.unit(), own, Optional.empty());
    }

    private PlanCell missing(Run run, Labels needs, ModelSource model, String pattern) {
        boolean isOut = run.on() == VerifyOn.BOARD && farm.isEmpty();
        Missing why = new Missing(
                run.isOptional() || isOut ? Result.SKIPPED : Result.FAILED,
                isOut ? "boards are used through a farm, and kiln.farm is not set" : reason(run, needs, pattern));
        return new PlanCell(model, pattern, run.on(), "", needs, Optional.of(why));
    }

    private String reason(Run run, Labels needs, String pattern) {
        String place = ParameterValue.text(run.on());
        if (farm.isPresent()) {
            return "the farm has no " + pattern + " (" + place + ")"
                    + (needs.values().isEmpty() ? "" : " with the labels " + needs.text()) + " that takes jobs; "
                    + FarmUnit.there(farm.get(), Set.of(place));
        }
        String near = NearMiss.didYouMean(pattern, boards.ids());
        return "no board `" + pattern + "` is emulated on this computer" + (near.isEmpty() ? "" : ". " + near);
    }

    private List<Place> places(Run run, String pattern, Labels needs) {
        return run.on() == VerifyOn.BOARD
                ? units(run, pattern, needs)
                : boards.ids().stream()
                        .filter(id -> Labels.matches(id, pattern) && isEmulated(id, needs))
                        .map(id -> new Place(id, ""))
                        .toList();
    }

    private List<Place> units(Run run, String pattern, Labels needs) {
        List<Place> places = new ArrayList<>();
        for (FarmUnit unit : farm.orElse(List.of())) {
            String board = unit.offer().board();
            if (unit.trouble().isEmpty()
                    && unit.fits("board", needs)
                    && FarmJob.isBoard(board)
                    && Labels.matches(board, pattern)) {
                places.add(new Place(
                        board,
                        run.match() == Match.UNITS
                                ? FarmMember.plain(unit.worker()) + "/"
                                        + unit.slots().get(0)
                                : ""));
            }
        }
        return places.stream().distinct().toList();
    }

    /** A board whose description is broken counts: its build says what is wrong. */
    private boolean isEmulated(String id, Labels needs) {
        Optional<Board> emulated;
        try {
            emulated = boards.emulated(boards.find(id));
        } catch (KilnException e) {
            return true;
        }
        return emulated.filter(board -> farm.isPresent()
                        ? farm.get().stream().anyMatch(unit -> emulates(unit, board.id(), needs))
                        : runsHere(board.emulation()))
                .isPresent();
    }

    private static boolean emulates(FarmUnit unit, String board, Labels needs) {
        return unit.trouble().isEmpty() && unit.offer().board().equals(board) && unit.fits("emulator", needs);
    }

    private static boolean runsHere(Emulation emulation) {
        return emulation instanceof Emulation.Qemu qemu
                ? Executables.find(qemu.program()).isPresent()
                : emulation instanceof Emulation.Native;
    }

    /**
     * A model on a board that a plan asks for.
     *
     * @param board id of the board, or the pattern that nothing matches
     * @param on where the image runs
     * @param unit the single board of a farm, as {@code WORKER/PROBE}; empty for any
     * @param needs labels of the farm's boards
     * @param missing what becomes of it if there is no such board
     */
    record PlanCell(
            ModelSource model, String board, VerifyOn on, String unit, Labels needs, Optional<Missing> missing) {
        /**
         * Why there is no board.
         *
         * @param result failed or skipped
         */
        record Missing(Result result, String reason) {}

        /** The board for people. */
        String shown() {
            return board + " (" + on.name().toLowerCase(Locale.ROOT)
                    + (unit.isEmpty() ? "" : " " + unit)
                    + (needs.values().isEmpty() || !unit.isEmpty() ? "" : ", " + needs.text()) + ")";
        }

        /** The cell without a run. */
        Cell without(Missing why) {
            return Cell.without(model.name(), shown(), why.result(), why.reason());
        }
    }
}
