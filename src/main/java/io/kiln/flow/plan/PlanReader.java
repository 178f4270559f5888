// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.plan;

import com.fasterxml.jackson.databind.JsonNode;
import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.NearMiss;
import io.kiln.base.ParameterValue;
import io.kiln.base.Problems;
import io.kiln.farm.desk.Labels;
import io.kiln.farm.job.FarmJob;
import io.kiln.farm.link.FarmMember;
import io.kiln.farm.state.FarmState.FarmUnit;
import io.kiln.flow.plan.PlanReader.PlanCells.PlanCell.Missing;
import io.kiln.flow.plan.PlanReader.TestPlan.Match;
import io.kiln.flow.plan.PlanReader.TestPlan.Run;
import io.kiln.flow.spec.BuildSpec.GivenInputs;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.flow.spec.BuildSpec.VerifyOn;
import io.kiln.process.ProcessRunner.Executables;
import io.kiln.report.PlanReport.Cell;
import io.kiln.report.PlanReport.Result;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.board.Boards;
import io.kiln.toolchain.board.Emulation;
import io.kiln.toolchain.yaml.YamlDocument;
import io.kiln.toolchain.yaml.YamlDocument.YamlSchema;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/** Reads a test plan. */
final class PlanReader {
    private final YamlDocument document;
    private final Path project;
    private final List<ModelSource> ofBuild;
    private final Problems problems = new Problems(Failure.TEST);

    /** Holds the schema, which is loaded only if there is a plan. */
    private static final class Schema {
        static final YamlSchema OF_PLANS = new YamlSchema("plan.schema.json");
    }

    private PlanReader(YamlDocument document, Path project, List<ModelSource> ofBuild) {
        this.document = document;
        this.project = project;
        this.ofBuild = ofBuild;
    }

    /**
     * Reads a plan.
     *
     * @param project the folder that names of files are relative to
     * @param ofBuild models of the build, for a plan without some of its own
     * @throws KilnException with every mistake, each with its line and column
     */
    static TestPlan read(Path file, Path project, List<ModelSource> ofBuild) {
        return parse(file.toString(), YamlDocument.content(file), project, ofBuild);
    }

    static TestPlan parse(String name, Bytes content, Path project, List<ModelSource> ofBuild) {
        PlanReader reader = new PlanReader(YamlDocument.parse(name, content), project, ofBuild);
        Schema.OF_PLANS.checkExactly(reader.document, reader.problems);
        reader.problems.throwIfAny();
        TestPlan plan = reader.plan();
        reader.problems.throwIfAny();
        return plan;
    }

    private TestPlan plan() {
        JsonNode root = document.root();
        List<ModelSource> models = new ArrayList<>();
        root.path("models").properties().forEach(each -> models.add(model(each.getKey(), each.getValue())));
        List<String> names = (models.isEmpty() ? ofBuild : models)
                .stream().map(ModelSource::name).toList();
        List<Run> runs = new ArrayList<>();
        for (int i = 0; i < root.path("runs").size(); i++) {
            runs.add(run(root.path("runs").path(i), "/runs/" + i, names));
        }
        return new TestPlan(root.path("title").asText("Test plan"), models, runs);
    }

    private ModelSource model(String name, JsonNode node) {
        String pointer = "/models/" + name;
        Path file = project.resolve(node.path("file").asText());
        if (!Files.isRegularFile(file)) {
            problem("no such model: " + file, pointer + "/file", "a file, named from " + project, "");
        }
        Optional<Path> vectors = Optional.ofNullable(node.get("vectors")).map(text -> project.resolve(text.asText()));
        vectors.filter(folder -> !Files.isDirectory(folder))
                .ifPresent(folder -> problem(
                        "no such folder of vectors: " + folder,
                        pointer + "/vectors",
                        "a folder, named from " + project,
                        ""));
        return new ModelSource(file, name, GivenInputs.NONE, "", Optional.empty(), vectors);
    }

    private Run run(JsonNode node, String pointer, List<String> names) {
        List<String> models = texts(node.path("models"));
        for (int i = 0; i < models.size(); i++) {
            String pattern = models.get(i);
            if (names.stream().noneMatch(name -> Labels.matches(name, pattern))) {
                problem(
                        "no model `" + pattern + "`",
                        pointer + "/models/" + i,
                        "one of " + String.join(", ", names),
                        NearMiss.didYouMean(pattern, names));
            }
        }
        Labels needs = problems.read(() -> Labels.parse(
                        document.exactly(pointer + "/needs"), node.path("needs").asText("")))
                .orElse(Labels.NONE);
        return new Run(
                document.exactly(pointer),
                models.isEmpty() ? List.of("*") : models,
                texts(node.path("boards")),
                ParameterValue.of(
                        "kiln.verify.on", VerifyOn.class, node.path("on").asText("emulator")),
                needs,
                Match.valueOf(node.path("match").asText("every").toUpperCase(Locale.ROOT)),
                node.path("missing").asText("fail").equals("skip"));
    }

    private static List<String> texts(JsonNode array) {
        List<String> texts = new ArrayList<>();
        array.forEach(each -> texts.add(each.asText()));
        return texts;
    }

    private void problem(String what, String pointer, String expected, String next) {
        problems.add(what, document.exactly(pointer), expected, next);
    }

    /**
     * A test plan, described by {@code toolchains/schemas/plan.schema.json}.
     *
     * @param title for people
     * @param models that it names; empty for those of the build
     * @param runs what is verified
     */
    record TestPlan(String title, List<ModelSource> models, List<Run> runs) {
        TestPlan {
            models = List.copyOf(models);
            runs = List.copyOf(runs);
        }

        /** What becomes of several boards that match. */
        enum Match {
            /** Each id is built and verified. */
            EVERY,
            /** One of them is. */
            ANY,
            /** Each single board of a farm is flashed and verified. */
            UNITS
        }

        /**
         * Models on boards.
         *
         * @param where it stands in the file
         * @param models names or patterns
         * @param boards ids or patterns
         * @param on {@link VerifyOn#EMULATOR} or {@link VerifyOn#BOARD}
         * @param needs labels that a farm's boards must have
         * @param match what becomes of several
         * @param isOptional whether nothing need match
         */
        record Run(
                String where,
                List<String> models,
                List<String> boards,
                VerifyOn on,
                Labels needs,
                Match match,
                boolean isOptional) {
            Run {
                models = List.copyOf(models);
                boards = List.copyOf(boards);
            }
        }
    }

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
                        .filter(model ->
                                run.models().stream().anyMatch(pattern -> Labels.matches(model.name(), pattern)))
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

        private void cells(
                Run run, Labels needs, Map<String, List<Place>> found, ModelSource model, Set<PlanCell> cells) {
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
}
