// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.verify;

import io.kiln.artifact.ModelMetadata;
import io.kiln.artifact.ModelMetadata.TensorInfo;
import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.base.Problem;
import io.kiln.device.emulator.Emulator;
import io.kiln.device.emulator.ProgramWatch.WatchedProgram;
import io.kiln.device.fault.FaultWatch;
import io.kiln.device.fault.StackUse;
import io.kiln.device.protocol.ConsoleProtocol.ImageConsole;
import io.kiln.device.protocol.ConsoleProtocol.ImageConsole.End;
import io.kiln.device.protocol.ModelSession;
import io.kiln.firmware.app.DefaultApplication.Application;
import io.kiln.flow.build.FirmwareSteps;
import io.kiln.flow.build.GenerateStep;
import io.kiln.flow.build.RunnableImage;
import io.kiln.flow.device.MonitorStep.AwaitedText;
import io.kiln.flow.device.MonitorStep.ConsoleLines;
import io.kiln.flow.resolve.ResolvedBuild;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.flow.spec.BuildSpec.VerifyOver;
import io.kiln.flow.spec.ImageSpec.RunSpec;
import io.kiln.flow.verify.TestCases.TestCase;
import io.kiln.flow.verify.VerificationCases.AudioCases;
import io.kiln.flow.verify.VerificationCases.GivenCases;
import io.kiln.flow.verify.VerificationCases.TestVectors;
import io.kiln.process.RunningProcess;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/** Boots the image and shows the console of the project's own program, or the model's answers. */
public record RunStep(Log log, ResolvedBuild build, RunSpec spec) {
    private static final int CASES_SHOWN = 8;

    private static final Duration TO_END = Duration.ofSeconds(2);

    /**
     * Runs the image until it ends, has answered, or prints the awaited text.
     *
     * @throws KilnException if it has an RPC server and the build asks over the console, or if it exits with a code other than 0, by a fault, or not in time
     */
    public void run() {
        RunnableImage image = RunnableImage.asBuilt(log, build);
        if (!image.hasOwnMain()
                && build.spec().application() == Application.RPC
                && build.spec().verify().over() == VerifyOver.CONSOLE) {
            throw Failure.CONFIG.exception(
                    "the image has an RPC server, which does not answer on a console",
                    "kiln.application rpc",
                    "kiln.verify.over rpc, or kiln.application console",
                    "Set -Dkiln.verify.over=rpc to ask the server");
        }
        Path file = build.spec().layout().reports().resolve("console.log");
        Emulator emulator = new Emulator(
                image.board(), spec.limit(), Optional.of(file), build.spec().semihosting());
        log.info("Booting " + image.file().getFileName() + " on " + RunnableImage.name(build, emulator));
        if (image.hasOwnMain()) {
            console(emulator, image.file());
        } else {
            answers(emulator, image.file());
        }
    }

    private void console(Emulator emulator, Path image) {
        ConsoleLines lines = new ConsoleLines(log);
        FaultWatch faults = new FaultWatch(lines);
        try (WatchedProgram program = emulator.watch(image)) {
            End end = ImageConsole.follow(program.output(), spec.limit(), faults, new AwaitedText(spec.until()));
            lines.end();
            Optional<StackUse> stack = program.stackUse(
                    end instanceof End.Returned returned ? returned.stackUsed() : OptionalLong.empty());
            judge(end, emulator, image, program.process());
            record(stack);
        } catch (KilnException e) {
            lines.end();
            throw faults.explained(e, image);
        }
    }

    private void record(Optional<StackUse> use) {
        Layout layout = build.spec().layout();
        FirmwareSteps.requireStack(log, layout, FirmwareSteps.ofBoard(layout, use));
    }

    private void judge(End end, Emulator emulator, Path image, RunningProcess process) {
        if (end instanceof End.Enough) {
            log.info("'" + spec.until().orElse("") + "' appeared: the image was stopped");
            return;
        }
        if (end instanceof End.Returned returned && returned.code() != 0) {
            throw Failure.RUN.exception("the image ended with code " + returned.code(), image.toString(), "code 0");
        }
        boolean goesOn = end instanceof End.Returned && !emulator.board().isHost();
        if ((!goesOn && process.waitFor(TO_END).isEmpty()) || process.timedOut()) {
            throw tooLate(image);
        }
        if (!goesOn) {
            List<Problem> problems = emulator.howItEnded(image, process);
            if (!problems.isEmpty()) {
                throw new KilnException(problems);
            }
        }
        spec.until().ifPresent(text -> {
            throw Failure.RUN.exception(
                    "the image ended, and '" + text + "' did not appear", image.toString(), "that text");
        });
        log.info("The image ended with code 0");
    }

    private KilnException tooLate(Path image) {
        String seconds = spec.limit().toSeconds() + " s";
        return new KilnException(
                spec.until().isPresent()
                        ? Failure.RUN.problem(
                                "'" + spec.until().get() + "' did not appear within " + seconds
                                        + "; the image was stopped",
                                image.toString(),
                                "that text on the console",
                                "Set kiln.run.timeout to more seconds if it needs them")
                        : Failure.RUN.problem(
                                "the image did not end within " + seconds + " and was stopped",
                                image.toString(),
                                "a main that returns",
                                "Set kiln.run.timeout to more seconds if it needs them, or kiln.run.until to a text"
                                        + " that it prints if it is meant to run for ever"));
    }

    private void answers(Emulator emulator, Path image) {
        List<ModelMetadata> models = GenerateStep.store(build.spec().layout()).metadata();
        ModelSession ended =
                emulator.talk(image, Protocols.of(build, emulator.limit()), new ConsoleLines(log), session -> {
                    List<ModelSession.Model> inImage = session.models();
                    for (int m = 0; m < models.size(); m++) {
                        for (TestCase each : cases(models.get(m), models.size() > 1)) {
                            List<Bytes> answer = session.run(m, inImage.get(m), each.inputs());
                            log.answer(line(models.get(m), each, answer));
                        }
                    }
                    return session;
                });
        record(StackUse.of(image, ended.stackUsed()));
    }

    /** The test vectors if there are any, otherwise random inputs. */
    private List<TestCase> cases(ModelMetadata model, boolean severalModels) {
        List<TestCase> cases = new ArrayList<>();
        Optional<Path> vectors = TestVectors.of(build.spec(), severalModels).folder(model.name());
        if (vectors.filter(Files::isDirectory)
                .filter(folder -> !AudioCases.areAlone(folder))
                .isPresent()) {
            cases.addAll(GivenCases.of(vectors.get(), model));
        } else {
            cases.add(TestCases.zero(model.inputs()));
            cases.addAll(TestCases.random(2, build.spec().verify().seed(), model.inputs()));
        }
        return cases.subList(0, Math.min(CASES_SHOWN, cases.size()));
    }

    private static String line(ModelMetadata model, TestCase each, List<Bytes> answer) {
        return model.name() + " " + each.name() + ": " + values(model.inputs(), each.inputs()) + " -> "
                + values(model.outputs(), answer);
    }

    private static String values(List<TensorInfo> tensors, List<Bytes> bytes) {
        List<String> texts = new ArrayList<>();
        for (int i = 0; i < tensors.size(); i++) {
            texts.add(TensorText.of(tensors.get(i), bytes.get(i)));
        }
        return String.join(", ", texts);
    }
}
