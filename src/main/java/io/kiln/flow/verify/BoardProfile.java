// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.verify;

import io.kiln.artifact.ExecutorKind;
import io.kiln.artifact.ModelMetadata;
import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.base.Problem;
import io.kiln.device.fault.FaultWatch;
import io.kiln.device.rpc.client.AotExecutor;
import io.kiln.device.rpc.client.RemoteModule;
import io.kiln.device.rpc.client.RpcClient;
import io.kiln.device.rpc.client.TimeEvaluator;
import io.kiln.device.rpc.client.TransportTimeouts;
import io.kiln.device.transport.Transport;
import io.kiln.flow.build.FirmwareSteps;
import io.kiln.flow.build.GenerateStep;
import io.kiln.flow.resolve.ModelArchives;
import io.kiln.flow.resolve.ResolvedBuild;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.DeviceSpec;
import io.kiln.flow.spec.VerifyOver;
import io.kiln.flow.verify.ProgrammedBoard.Answer;
import io.kiln.flow.verify.ProgrammedBoard.Purpose;
import io.kiln.report.Json;
import io.kiln.report.ProfileReport;
import io.kiln.report.ProfileReport.Time;
import io.kiln.toolchain.board.BoardTimer;
import io.kiln.toolchain.board.Flashing;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;

/** Measures whole runs on the board, by its own timer over RPC, with every input at its zero point; writes {@code profile.json}. */
public final class BoardProfile {
    private static final Duration LIMIT = Duration.ofMinutes(10);
    private static final double MICROSECONDS = 1e6;

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

    /**
     * Measures.
     *
     * @throws io.kiln.base.KilnException if the board cannot be reached, or its program has no RPC server
     */
    public void run() {
        requirePackedFunctions();
        List<ModelMetadata> models = GenerateStep.store(build.spec().layout()).metadata();
        Answer<List<Time>> answer = new ProgrammedBoard(log, build, device, Purpose.PROFILE)
                .talk(LIMIT, (line, elf, text) -> measure(line, elf, text, models));
        ProfileReport report = ProfileReport.measured(build.board().id(), answer.ranOn(), isVirtual(), answer.value());
        Json.write(build.spec().layout().reports().resolve(FirmwareSteps.PROFILE), report);
        report.times().forEach(time -> log.info(text(report.ranOn(), time)));
    }

    private void requirePackedFunctions() {
        if (build.spec().calls().executor() != ExecutorKind.AOT) {
            throw new KilnException(new Problem(
                    "a board measures whole runs of the AOT executor, and kiln.executor is "
                            + build.spec().calls().executor().text(),
                    "kiln.profile.on",
                    "kiln.executor aot",
                    "Leave kiln.executor out, or let the emulator count with kiln.profile.on emulator"));
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

    private List<Time> measure(Transport line, Path elf, Consumer<String> text, List<ModelMetadata> models) {
        FaultWatch faults = new FaultWatch(text);
        TransportTimeouts timeouts = TransportTimeouts.SERIAL.withReplies(LIMIT);
        try (RpcClient client = RpcClient.connect(line, timeouts, log -> text.accept(log + "\n"), faults)) {
            RemoteModule library = client.systemLibrary();
            List<Time> times = new ArrayList<>();
            for (ModelMetadata model : models) {
                times.add(measure(client, library, model));
            }
            return times;
        } catch (KilnException e) {
            throw line.explained(faults.explained(e, elf));
        }
    }

    private Time measure(RpcClient client, RemoteModule library, ModelMetadata model) {
        List<Bytes> zero = TestCases.zero(model.inputs()).inputs();
        try (AotExecutor executor = AotExecutor.create(client, library, model.name())) {
            executor.run(zero);
            double seconds = executor.timeEvaluator(client, SETTINGS).seconds().stream()
                    .mapToDouble(Double::doubleValue)
                    .average()
                    .orElseThrow();
            return new Time(model.name(), seconds * MICROSECONDS, cycles(seconds));
        }
    }

    /** Null if the board's timer counts something else, as the report has it. */
    private Long cycles(double seconds) {
        return build.board()
                .timer()
                .filter(BoardTimer::countsCycles)
                .map(timer -> Math.max(1, Math.round(seconds * timer.hertz())))
                .orElse(null);
    }

    private static String text(String ranOn, Time time) {
        String cycles = time.cycles() == null ? "" : String.format(Locale.ROOT, ", %,d cycles", time.cycles());
        return String.format(
                Locale.ROOT, "One run of %s on %s: %,.1f us%s", time.model(), ranOn, time.microseconds(), cycles);
    }
}
