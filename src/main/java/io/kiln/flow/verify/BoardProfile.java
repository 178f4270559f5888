// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.verify;

import io.kiln.artifact.ExecutorKind;
import io.kiln.artifact.GraphFile.Node;
import io.kiln.artifact.ModelMetadata;
import io.kiln.artifact.OperatorInfo;
import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.base.WholeFiles;
import io.kiln.device.flash.Probe;
import io.kiln.device.lease.Lease;
import io.kiln.device.rpc.client.NodeProfile;
import io.kiln.device.rpc.client.TimedModel;
import io.kiln.device.rpc.client.TimedModel.Graph;
import io.kiln.device.rpc.client.TimedModel.Input;
import io.kiln.device.rpc.client.TimedModel.RunTimes;
import io.kiln.device.transport.Transport;
import io.kiln.farm.job.FarmAnswer.Timed;
import io.kiln.flow.build.FirmwareSteps;
import io.kiln.flow.build.GenerateStep;
import io.kiln.flow.build.RunnableImage;
import io.kiln.flow.device.FlashRunners;
import io.kiln.flow.device.FlashStep;
import io.kiln.flow.device.Leases;
import io.kiln.flow.device.Leases.BoardUse;
import io.kiln.flow.device.TimedRuns;
import io.kiln.flow.farm.FarmRuns;
import io.kiln.flow.page.BuildPage;
import io.kiln.flow.resolve.ModelFiles.ModelArchives;
import io.kiln.flow.resolve.ResolvedBuild;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.BuildSpec.VerifyOver;
import io.kiln.flow.spec.DeviceSpec;
import io.kiln.flow.spec.FarmUse;
import io.kiln.flow.verify.BoardProfile.ProgrammedBoard.Answer;
import io.kiln.flow.verify.BoardProfile.ProgrammedBoard.Purpose;
import io.kiln.report.BuildReport;
import io.kiln.report.Json;
import io.kiln.report.ProfileReport;
import io.kiln.report.ProfileReport.Operator;
import io.kiln.report.ProfileReport.Time;
import io.kiln.toolchain.board.Board.BoardTimer;
import io.kiln.toolchain.board.Flashing;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/**
 * Measures on the board, by its own timer over RPC, with every input at its zero point; writes {@code profile.json}.
 * With the AOT executor it measures whole runs. With the graph executor it measures each operator, and also writes a trace for Chrome's
 * viewer.
 */
public final class BoardProfile {
    private static final Duration LIMIT = Duration.ofMinutes(10);
    private static final double MICROSECONDS = 1e6;
    private static final double PERCENT = 100;
    private static final int SHOWN = 8;

    private final Log log;
    private final ResolvedBuild build;
    private final DeviceSpec device;

    public BoardProfile(Log log, ResolvedBuild build, DeviceSpec device) {
        this.log = log;
        this.build = overRpc(build);
        this.device = device;
    }

    /** The build of the image with the server, which is flashed whatever the build's own application is. */
    private static ResolvedBuild overRpc(ResolvedBuild build) {
        BuildSpec spec = build.spec();
        BuildSpec served = spec.with(spec.image().with(spec.verify().with(VerifyOver.RPC)));
        return build.with(served, build.runsOn());
    }

    /**
     * Measures the models.
     *
     * @throws io.kiln.base.KilnException if the board cannot be reached, or its program has no RPC server
     */
    public void run() {
        requirePackedFunctions();
        List<ModelMetadata> models = GenerateStep.store(build.spec().layout()).metadata();
        Map<String, Graph> graphs = Protocols.files(build);
        List<TimedModel> timed =
                models.stream().map(model -> timed(model, graphs)).toList();
        Answer<List<Measured>> answer = measured(models, timed);
        ProfileReport report = ProfileReport.measured(
                build.board().id(),
                answer.ranOn(),
                isVirtual(),
                answer.value().stream().map(Measured::time).toList(),
                answer.value().stream().flatMap(one -> one.operators().stream()).toList());
        Path reports = build.spec().layout().reports();
        Json.write(reports.resolve(FirmwareSteps.PROFILE), report);
        Path known = reports.resolve(FirmwareSteps.REPORT);
        Json.write(known, Json.read(known, BuildReport.class).profiled(report));
        BuildPage.write(build.spec().layout());
        for (Measured one : answer.value()) {
            log.info(text(report.ranOn(), one));
            say(one);
            one.profile()
                    .ifPresent(profile -> WholeFiles.write(
                            reports.resolve("trace-" + one.time().model() + ".json"), profile.trace()));
        }
    }

    /** Logs the operators that took longest. */
    private void say(Measured measured) {
        measured.operators().stream()
                .sorted(Comparator.comparingDouble(Operator::microseconds).reversed())
                .limit(SHOWN)
                .forEach(operator -> log.info(String.format(
                        Locale.ROOT,
                        "%,14.1f us  %5.1f %%  %s%s",
                        operator.microseconds(),
                        PERCENT * operator.microseconds() / measured.time().microseconds(),
                        operator.name(),
                        operator.layers().isEmpty() ? "" : "  (" + String.join(", ", operator.layers()) + ")")));
    }

    /**
     * What was measured of a model.
     *
     * @param operators empty with the AOT executor
     * @param profile the graph's nodes; empty with the AOT executor
     */
    private record Measured(Time time, List<Operator> operators, Optional<NodeProfile> profile) {}

    private void requirePackedFunctions() {
        if (build.spec().calls().executor() == ExecutorKind.NONE) {
            throw Failure.PROFILE.exception(
                    "a board measures runs of a model, and with kiln.executor none nothing runs it",
                    "kiln.profile.on",
                    "kiln.executor aot or graph",
                    "Set kiln.executor to graph for the time of each operator");
        }
        boolean isCompiled = build.spec().models().stream().anyMatch(model -> !ModelArchives.accepts(model.file()));
        if (device.isFlashed() && isCompiled && !build.spec().calls().packed().systemLibrary()) {
            throw Failure.PROFILE.exception(
                    "a board measures by an RPC server, and the models have no system library of packed functions",
                    "kiln.profile.on",
                    "kiln.application rpc, or kiln.interfaceApi packed",
                    "Set kiln.application to rpc");
        }
    }

    /** Whether the board is virtual, so that its time is QEMU's. */
    private boolean isVirtual() {
        return build.board().openOcd().filter(Flashing.OpenOcd::isVirtual).isPresent();
    }

    private static TimedModel timed(ModelMetadata model, Map<String, Graph> graphs) {
        List<Bytes> zero = TestCases.zero(model.inputs()).inputs();
        List<Input> inputs = new ArrayList<>();
        for (int i = 0; i < zero.size(); i++) {
            inputs.add(new Input(model.inputs().get(i).name(), zero.get(i)));
        }
        return new TimedModel(model.name(), inputs, Optional.ofNullable(graphs.get(model.name())));
    }

    private Answer<List<Measured>> measured(List<ModelMetadata> models, List<TimedModel> timed) {
        Answer<List<RunTimes>> times = build.spec().farm().isPresent()
                ? byFarm(build.spec().farm().get(), timed)
                : new ProgrammedBoard(log, build, device, Purpose.PROFILE)
                        .talk(
                                LIMIT,
                                (line, elf, text) -> new TimedRuns(
                                                timed,
                                                LIMIT,
                                                build.spec().verify().limits())
                                        .over(line, elf, text));
        List<Measured> measured = new ArrayList<>();
        for (int i = 0; i < models.size(); i++) {
            measured.add(
                    measured(models.get(i), timed.get(i).graph(), times.value().get(i)));
        }
        return new Answer<>(times.ranOn(), measured);
    }

    /** Measures on a board of a farm, whose answer may not match the request. */
    private Answer<List<RunTimes>> byFarm(FarmUse use, List<TimedModel> timed) {
        RunnableImage image = RunnableImage.forTheBoard(log, build);
        try (FarmRuns farm =
                FarmRuns.open(use, log, build.spec().layout().reports().resolve("profile.log"))) {
            FarmRuns.Answer<Timed> answer = farm.time(build.board(), LIMIT, image.file(), timed);
            List<Integer> sizes = answer.value().models().stream()
                    .map(model -> model.seconds().size())
                    .toList();
            List<Integer> expected = timed.stream()
                    .map(model -> model.graph()
                            .map(graph -> graph.read().nodes().size())
                            .orElse(1))
                    .toList();
            boolean isEmpty = answer.value().models().stream()
                    .flatMap(model -> model.seconds().stream())
                    .anyMatch(List::isEmpty);
            if (!sizes.equals(expected) || isEmpty) {
                throw Failure.PROFILE.exception(
                        "a worker of the farm sent times of " + sizes + " nodes",
                        answer.ranOn(),
                        expected + ", one or more times of each");
            }
            return new Answer<>(answer.ranOn(), answer.value().models());
        }
    }

    private Measured measured(ModelMetadata model, Optional<Graph> graph, RunTimes times) {
        if (graph.isPresent()) {
            return nodes(model, new NodeProfile(graph.get().read(), times.seconds()));
        }
        double seconds = times.seconds().get(0).stream()
                .mapToDouble(Double::doubleValue)
                .average()
                .orElseThrow();
        double microseconds = seconds * MICROSECONDS;
        return new Measured(new Time(model.name(), microseconds, cycles(microseconds)), List.of(), Optional.empty());
    }

    private Measured nodes(ModelMetadata model, NodeProfile profile) {
        Map<String, List<String>> layers = model.operators().stream()
                .collect(Collectors.toMap(OperatorInfo::name, OperatorInfo::layers, (one, other) -> one));
        List<Operator> operators = new ArrayList<>();
        List<Node> nodes = profile.graph().nodes();
        for (int i = 0; i < nodes.size(); i++) {
            Node node = nodes.get(i);
            if (node.isOperator()) {
                operators.add(new Operator(
                        node.function(),
                        layers.getOrDefault(node.function(), List.of()),
                        null,
                        profile.microseconds(i),
                        cycles(profile.microseconds(i)),
                        null,
                        null));
            }
        }
        Time all = new Time(model.name(), profile.microseconds(), cycles(profile.microseconds()));
        return new Measured(all, operators, Optional.of(profile));
    }

    /** The cycles of a time; null, as in the report, if the board's timer does not count cycles. */
    private Long cycles(double microseconds) {
        return build.board()
                .timer()
                .filter(BoardTimer::countsCycles)
                .map(timer -> Math.max(1, Math.round(microseconds / MICROSECONDS * timer.hertz())))
                .orElse(null);
    }

    private static String text(String ranOn, Measured measured) {
        Time time = measured.time();
        String cycles = time.cycles() == null ? "" : String.format(Locale.ROOT, ", %,d cycles", time.cycles());
        return String.format(
                Locale.ROOT,
                "%s of %s on %s: %,.1f us%s",
                measured.operators().isEmpty() ? "One run" : "All operators",
                time.model(),
                ranOn,
                time.microseconds(),
                cycles);
    }

    /**
     * A board with the build's image: acquires one, flashes it unless that is skipped, and opens the connection to its program.
     *
     * @param log gets messages about each step
     * @param build what is to run there
     * @param device how the user wants it to be reached
     * @param purpose what it is for, and the parameter by which the user asked for a board
     */
    record ProgrammedBoard(Log log, ResolvedBuild build, DeviceSpec device, Purpose purpose) {
        /** Why a board is needed. */
        enum Purpose {
            /** To prove answers. */
            VERIFICATION("Verification", "verify"),
            /** To measure. */
            PROFILE("The profile", "profile");

            private final String title;
            private final String goal;

            Purpose(String title, String goal) {
                this.title = title;
                this.goal = goal;
            }
        }

        /**
         * The answer of a board.
         *
         * @param ranOn the board and the probe, or the port, as reports name them
         * @param value the answer
         */
        record Answer<T>(String ranOn, T value) {}

        /** The exchange with the program. */
        @FunctionalInterface
        interface Talk<T> {
            /**
             * Talks to the program.
             *
             * @param line to the program
             * @param elf the program's ELF file
             * @param text gets what it prints
             */
            T over(Transport line, Path elf, Consumer<String> text);
        }

        /**
         * Talks to the program on the board.
         *
         * @param limit longest time for all of it
         * @throws KilnException if the board cannot be flashed or reached, with the reason and a remedy
         */
        <T> Answer<T> talk(Duration limit, Talk<T> talk) {
            check();
            log.info(
                    device.isFlashed()
                            ? purpose.title + " on the board flashes it first (kiln.flash.skip prevents that)"
                            : purpose.title + " does not flash the board: kiln.flash.skip is set");
            Path text = build.spec().layout().reports().resolve(purpose.goal + ".log");
            try (Lease lease = new Leases(BoardUse.of(build), device, limit, text).take()) {
                return talk(lease, talk);
            }
        }

        private <T> Answer<T> talk(Lease lease, Talk<T> talk) {
            Path elf = elf();
            AtomicReference<Optional<Probe>> by = new AtomicReference<>(Optional.empty());
            try (Transport line = lease.start(() -> by.set(bring(lease, elf)))) {
                T answer = talk.over(line, elf, lease.log());
                return new Answer<>(lease.name(by.get()), answer);
            }
        }

        private void check() {
            if (device.isFlashed() && !FlashRunners.areFor(build.board())) {
                throw Failure.BOARD.exception(
                        "the board " + build.board().id() + " has no flash runner, so the image cannot be flashed",
                        "kiln." + purpose.goal + ".on",
                        "flash in " + build.board().origin(),
                        "Use -Dkiln." + purpose.goal
                                + ".on=emulator, or flash it by other means and set -Dkiln.flash.skip");
            }
            if (device.flash()
                    .probe()
                    .filter(text -> text.contains(",") || text.equals("all"))
                    .isPresent()) {
                throw Failure.BOARD.exception(
                        purpose.title.toLowerCase(Locale.ROOT) + " runs on one board, and kiln.probe names several",
                        "kiln.probe",
                        "one probe",
                        "Name one for kiln:" + purpose.goal + "; mvn deploy -Dkiln.verify.on=emulator flashes several");
            }
        }

        /** The image that answers; if flashing is skipped, or another program makes one, what the build has. */
        private Path elf() {
            boolean isOwn = device.isFlashed() && build.board().projectApi().isEmpty();
            return isOwn ? RunnableImage.forTheBoard(log, build).file() : FlashStep.image(build);
        }

        /** Flashes the image unless flashing is skipped; returns the probe that did it. */
        private Optional<Probe> bring(Lease lease, Path elf) {
            return device.isFlashed()
                    ? Optional.of(new FlashStep(log, build, device.flash())
                            .flash(elf, lease::flashRunner)
                            .get(0)
                            .probe())
                    : Optional.empty();
        }
    }
}
