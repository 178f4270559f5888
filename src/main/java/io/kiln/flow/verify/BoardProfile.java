// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.verify;

import io.kiln.artifact.ExecutorKind;
import io.kiln.artifact.GraphFile.Node;
import io.kiln.artifact.ModelMetadata;
import io.kiln.artifact.OperatorInfo;
import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.base.Problem;
import io.kiln.base.WholeFiles;
import io.kiln.device.fault.FaultWatch;
import io.kiln.device.rpc.HostGraph;
import io.kiln.device.rpc.client.AotExecutor;
import io.kiln.device.rpc.client.DebugExecutor;
import io.kiln.device.rpc.client.GraphExecutor;
import io.kiln.device.rpc.client.NodeProfile;
import io.kiln.device.rpc.client.RemoteModule;
import io.kiln.device.rpc.client.RpcClient;
import io.kiln.device.rpc.client.TimeEvaluator;
import io.kiln.device.rpc.client.TransportTimeouts;
import io.kiln.device.transport.Transport;
import io.kiln.flow.build.FirmwareSteps;
import io.kiln.flow.build.GenerateStep;
import io.kiln.flow.page.BuildPage;
import io.kiln.flow.resolve.ModelArchives;
import io.kiln.flow.resolve.ResolvedBuild;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.DeviceSpec;
import io.kiln.flow.spec.VerifyOver;
import io.kiln.flow.verify.ProgrammedBoard.Answer;
import io.kiln.flow.verify.ProgrammedBoard.Purpose;
import io.kiln.report.BuildReport;
import io.kiln.report.Json;
import io.kiln.report.ProfileReport;
import io.kiln.report.ProfileReport.Operator;
import io.kiln.report.ProfileReport.Time;
import io.kiln.toolchain.board.BoardTimer;
import io.kiln.toolchain.board.Flashing;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/**
 * Measures on the board, by its own timer over RPC, with every input at its zero point; writes {@code profile.json}. With the AOT executor it
 * measures whole runs. A graph it walks operator by operator, measures each, and writes a trace for Chrome's viewer, too.
 */
public final class BoardProfile {
    private static final Duration LIMIT = Duration.ofMinutes(10);
    private static final double MICROSECONDS = 1e6;
    private static final double PERCENT = 100;
    private static final int SHOWN = 8;

    /** Three blocks of at least 10 ms, so that a coarse timer is good enough. */
    private static final TimeEvaluator.Settings SETTINGS = new TimeEvaluator.Settings(1, 3, 10, 100);

    private final Log log;
    private final ResolvedBuild build;
    private final DeviceSpec device;

    public BoardProfile(Log log, ResolvedBuild build, DeviceSpec device) {
        this.log = log;
        this.build = overRpc(build);
        this.device = device;
    }

    /** The image that is flashed is the one with the server, whatever the build's own application is. */
    private static ResolvedBuild overRpc(ResolvedBuild build) {
        BuildSpec spec = build.spec();
        BuildSpec served =
                spec.toBuilder().verify(spec.verify().with(VerifyOver.RPC)).build();
        return build.with(served, build.runsOn());
    }

    private void requireOwnBoard() {
        if (build.spec().farm().isPresent()) {
            throw new KilnException(new Problem(
                    "times are measured on a board of this computer, not on one of a farm",
                    "kiln.profile.on",
                    "emulator with kiln.farm, or board without it",
                    "Leave one of them out"));
        }
    }

    /**
     * Measures.
     *
     * @throws io.kiln.base.KilnException if the board cannot be reached, or its program has no RPC server
     */
    public void run() {
        requireOwnBoard();
        requirePackedFunctions();
        List<ModelMetadata> models = GenerateStep.store(build.spec().layout()).metadata();
        Map<String, HostGraph> graphs = Protocols.graphs(build);
        Answer<List<Measured>> answer = new ProgrammedBoard(log, build, device, Purpose.PROFILE)
                .talk(LIMIT, (line, elf, text) -> measure(line, elf, text, models, graphs));
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

    /** The operators that took longest. */
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
            throw new KilnException(new Problem(
                    "a board measures runs of a model, and with kiln.executor none nothing runs it",
                    "kiln.profile.on",
                    "kiln.executor aot or graph",
                    "Set kiln.executor to graph for the time of each operator"));
        }
        boolean isCompiled = build.spec().models().stream().anyMatch(model -> !ModelArchives.accepts(model.file()));
        if (device.isFlashed() && isCompiled && !build.spec().calls().systemLib()) {
            throw new KilnException(new Problem(
                    "a board measures by an RPC server, and the models have no system library of packed functions",
                    "kiln.profile.on",
                    "kiln.application rpc, or kiln.interfaceApi packed",
                    "Set kiln.application to rpc"));
        }
    }

    /** The time of a virtual board is QEMU's. */
    private boolean isVirtual() {
        return build.board().openOcd().filter(Flashing.OpenOcd::isVirtual).isPresent();
    }

    private List<Measured> measure(
            Transport line,
            Path elf,
            Consumer<String> text,
            List<ModelMetadata> models,
            Map<String, HostGraph> graphs) {
        FaultWatch faults = new FaultWatch(text);
        TransportTimeouts timeouts = TransportTimeouts.SERIAL.withReplies(LIMIT);
        try (RpcClient client = RpcClient.connect(line, timeouts, log -> text.accept(log + "\n"), faults)) {
            RemoteModule library = client.systemLibrary();
            List<Measured> measured = new ArrayList<>();
            for (ModelMetadata model : models) {
                HostGraph graph = graphs.get(model.name());
                measured.add(graph == null ? whole(client, library, model) : graph(client, library, model, graph));
            }
            return measured;
        } catch (KilnException e) {
            throw line.explained(faults.explained(e, elf));
        }
    }

    private Measured whole(RpcClient client, RemoteModule library, ModelMetadata model) {
        List<Bytes> zero = TestCases.zero(model.inputs()).inputs();
        try (AotExecutor executor = AotExecutor.create(client, library, model.name())) {
            executor.run(zero);
            double seconds = executor.timeEvaluator(client, SETTINGS).seconds().stream()
                    .mapToDouble(Double::doubleValue)
                    .average()
                    .orElseThrow();
            double microseconds = seconds * MICROSECONDS;
            return new Measured(
                    new Time(model.name(), microseconds, cycles(microseconds)), List.of(), Optional.empty());
        }
    }

    private Measured graph(RpcClient client, RemoteModule library, ModelMetadata model, HostGraph host) {
        List<Bytes> zero = TestCases.zero(model.inputs()).inputs();
        try (GraphExecutor executor = GraphExecutor.create(client, library, host.graph())) {
            executor.loadParams(host.parameters());
            for (int i = 0; i < zero.size(); i++) {
                executor.setInput(model.inputs().get(i).name(), zero.get(i));
            }
            NodeProfile profile = new DebugExecutor(executor).profile(SETTINGS);
            Map<String, List<String>> layers = model.operators().stream()
                    .collect(Collectors.toMap(OperatorInfo::name, OperatorInfo::layers, (one, other) -> one));
            List<Operator> operators = new ArrayList<>();
            for (int i = 0; i < host.graph().nodes().size(); i++) {
                Node node = host.graph().nodes().get(i);
                if (node.isOperator()) {
                    operators.add(new Operator(
                            node.function(),
                            layers.getOrDefault(node.function(), List.of()),
                            null,
                            profile.microseconds(i),
                            cycles(profile.microseconds(i)),
                            null));
                }
            }
            Time all = new Time(model.name(), profile.microseconds(), cycles(profile.microseconds()));
            return new Measured(all, operators, Optional.of(profile));
        }
    }

    /** Null if the board's timer counts something else, as the report has it. */
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
}
