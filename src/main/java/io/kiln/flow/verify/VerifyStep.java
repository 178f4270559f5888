// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.verify;

import io.kiln.artifact.ModelMetadata;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.base.Problem;
import io.kiln.base.Problems;
import io.kiln.base.incremental.Fingerprint;
import io.kiln.compile.ReadOptions;
import io.kiln.device.emulator.Emulator;
import io.kiln.device.fault.StackUse;
import io.kiln.device.protocol.Conversation;
import io.kiln.device.protocol.Protocol;
import io.kiln.device.transport.SessionLimits;
import io.kiln.farm.job.RunPlace;
import io.kiln.flow.build.AudioInput;
import io.kiln.flow.build.FirmwareSteps;
import io.kiln.flow.build.GenerateStep;
import io.kiln.flow.build.QuantizedFiles;
import io.kiln.flow.build.RunnableImage;
import io.kiln.flow.farm.FarmRuns;
import io.kiln.flow.resolve.ModelArchives;
import io.kiln.flow.resolve.ResolvedBuild;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.flow.spec.BuildSpec.VerifyOn;
import io.kiln.flow.spec.BuildSpec.VerifyOver;
import io.kiln.flow.spec.BuildSpec.VerifySpec;
import io.kiln.flow.spec.DeviceSpec;
import io.kiln.flow.state.Steps;
import io.kiln.flow.state.VerifyRecord;
import io.kiln.flow.verify.ProgrammedBoard.Answer;
import io.kiln.flow.verify.ProgrammedBoard.Purpose;
import io.kiln.ir.Function;
import io.kiln.report.VerifyReport;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/** Verifies that the image computes what the model says, and writes {@code verify.json} and JUnit XML. */
public final class VerifyStep {
    private static final String CAME_AS_C = "it came as C";

    private final Log log;
    private final ResolvedBuild build;
    private final Layout layout;
    private final VerifySpec spec;
    private final DeviceSpec device;
    private final VerifyRecord record;

    public VerifyStep(Log log, ResolvedBuild build, DeviceSpec device, VerifyRecord record) {
        this.log = log;
        this.build = build;
        this.layout = build.spec().layout();
        this.spec = build.spec().verify();
        this.device = device;
        this.record = record;
    }

    /**
     * Verifies; in an emulator only if image, vectors or settings differ from those that passed last time.
     *
     * @throws KilnException if an answer is wrong; the record says so too
     */
    public void run() {
        record.about(build.board().id(), "unknown", spec.seed());
        if (spec.on() == VerifyOn.NONE) {
            record.leave();
            log.info("Verification skipped: kiln.verify.on is none");
            return;
        }
        if (spec.on() == VerifyOn.BOARD) {
            runOnBoard();
            return;
        }
        if (build.runsOn().isEmpty()) {
            record.leave();
            log.info("Verification skipped: nothing on this computer runs images of "
                    + build.board().id());
            return;
        }
        record.restore();
        if (!new Steps(log, layout).run("Verifying", fingerprint(), this::verify)) {
            record.leave();
        }
    }

    /** Verifies on the board, always, because the state of a board can change at any time. */
    private void runOnBoard() {
        List<VerificationCases> models = cases();
        if (build.spec().farm().isPresent()) {
            onTheFarm(RunPlace.BOARD, models);
        } else {
            Answer<Verification.Outcome> answer = onTheBoard(models);
            report(answer.ranOn(), answer.value());
        }
        if (isOwnProgram()) {
            new OwnProgram(log, build).leaveOut("the board holds the default application");
        }
    }

    private Fingerprint fingerprint() {
        Fingerprint now = Fingerprint.of("verify")
                .value("", build)
                .value("image", layout.image("elf"))
                .value("on a farm", build.spec().farm().isPresent())
                .value("references", OperatorReferences.files(build.spec()));
        build.spec()
                .models()
                .forEach(model -> now.value(
                        "files of " + model.name(), model.companions(reading().limits())));
        return now;
    }

    /** Runs the cases on a board of this computer; if it answers nothing, or something wrong, the outcome says so. */
    private Answer<Verification.Outcome> onTheBoard(List<VerificationCases> models) {
        Duration limit = Verification.limit(models, spec.limits());
        Protocol protocol = Protocols.of(build, limit);
        return new ProgrammedBoard(log, build, device, Purpose.VERIFICATION)
                .talk(
                        limit,
                        (line, elf, text) ->
                                Verification.run(line, new Conversation(protocol, elf, text), models, log));
    }

    private Collection<Path> onTheFarm(RunPlace place, List<VerificationCases> models) {
        FarmRuns.Answer<Verification.Outcome> answer =
                new FarmVerification(log, build, build.spec().farm().orElseThrow()).run(place, models);
        record.about(build.board().id(), answer.ranOn(), spec.seed());
        Optional<StackUse> stack =
                StackUse.of(layout.image("elf"), answer.value().stack());
        note(stack, stack.flatMap(StackUse::problem), answer.value());
        return report(answer.ranOn(), answer.value());
    }

    /** Records the deepest use of the image's stack. A failed record says that it overflowed, too. */
    private void note(Optional<StackUse> use, Optional<Problem> overflow, Verification.Outcome outcome) {
        overflow.ifPresent(outcome.wrong()::add);
        FirmwareSteps.recordStack(log, layout, use);
    }

    private Collection<Path> verify() {
        record.begin();
        List<VerificationCases> models = cases();
        if (build.spec().farm().isPresent()) {
            if (isOwnProgram()) {
                new OwnProgram(log, build).leaveOut("the farm runs the default application");
            }
            return onTheFarm(RunPlace.EMULATOR, models);
        }
        RunnableImage image = RunnableImage.withDefaultApplication(log, build);
        Emulator emulator = new Emulator(
                image.board(),
                Verification.limit(models, spec.limits()).multipliedBy(SessionLimits.share()),
                Optional.of(layout.reports().resolve("verify.log")),
                build.spec().semihosting());
        String ranOn = RunnableImage.name(build, emulator);
        record.about(build.board().id(), ranOn, spec.seed());
        Verification.Outcome outcome =
                Verification.run(emulator, image.file(), Protocols.of(build, emulator.limit()), models, log);
        Optional<OwnProgram.Result> program = isOwnProgram() ? new OwnProgram(log, build).watch() : Optional.empty();
        Verification.Outcome whole = program.map(outcome::with).orElse(outcome);
        Optional<StackUse> stack = FirmwareSteps.ofBoard(
                layout,
                image.isOther()
                        ? program.flatMap(OwnProgram.Result::stack)
                        : StackUse.of(image.file(), outcome.stack()));
        boolean isSaid = program.flatMap(OwnProgram.Result::problem).isPresent();
        note(stack, isSaid ? Optional.empty() : stack.flatMap(StackUse::problem), whole);
        return report(ranOn, whole);
    }

    private Collection<Path> report(String ranOn, Verification.Outcome outcome) {
        VerifyReport report = new VerifyReport(
                build.board().id(),
                ranOn,
                spec.seed(),
                outcome.cases(),
                outcome.bitExact(),
                outcome.wrong().isEmpty(),
                outcome.tolerance(),
                outcome.wrong().isEmpty()
                        ? ""
                        : new KilnException(outcome.wrong().list()).getMessage());
        Collection<Path> written = record.write(report, outcome.times());
        outcome.wrong().throwIfAny();
        log.info(summary(report));
        return written;
    }

    private boolean isOwnProgram() {
        return FirmwareSteps.hasOwnMain(
                new FirmwareSteps(Log.QUIET, build).objects().project());
    }

    private List<VerificationCases> cases() {
        List<ModelMetadata> metadata = GenerateStep.store(layout).metadata();
        Map<String, ModelSource> sources = build.spec().models().stream()
                .filter(source -> !ModelArchives.accepts(source.file()))
                .collect(Collectors.toMap(ModelSource::name, source -> source));
        Set<String> hearing = GenerateStep.store(layout).hearing().stream()
                .map(ModelMetadata::name)
                .collect(Collectors.toUnmodifiableSet());
        TestVectors vectors = TestVectors.of(build.spec(), metadata.size() > 1);
        List<VerificationCases> models = new ArrayList<>();
        List<VerificationCases> onAudio = new ArrayList<>();
        Problems problems = new Problems(Failure.VERIFY);
        for (ModelMetadata model : metadata) {
            Optional<ModelSource> source = Optional.ofNullable(sources.get(model.name()));
            Optional<RoundedModel> read = source.map(this::read);
            Optional<Function> function = read.map(RoundedModel::function);
            models.add(
                    read.isPresent()
                            ? VerificationCases.of(model, read.get(), vectors, problems)
                            : VerificationCases.given(model, CAME_AS_C, vectors, problems));
            if (hearing.contains(model.name())) {
                onAudio.add(onAudio(model, source, function, vectors));
            }
        }
        problems.throwIfAny();
        if (spec.over() == VerifyOver.CONSOLE) {
            models.addAll(onAudio);
        }
        if (models.stream().allMatch(m -> m.cases().isEmpty())) {
            throw Failure.VERIFY.exception(
                    "there is nothing to verify with",
                    "kiln.verify",
                    "test vectors or at least one random case",
                    "Set kiln.verify.vectors or kiln.verify.samples, or kiln.verify.on=none");
        }
        return models;
    }

    /** Cases of a model on audio, if the interpreter can run it: only that tells what a model answers to audio. */
    private VerificationCases onAudio(
            ModelMetadata model, Optional<ModelSource> source, Optional<Function> function, TestVectors vectors) {
        return source.flatMap(each -> AudioInput.of(each, model))
                .filter(preprocessing -> function.orElseThrow().opaque().isEmpty())
                .map(preprocessing -> AudioCases.of(model, function.orElseThrow(), preprocessing, vectors))
                .orElseGet(() -> AudioCases.none(model));
    }

    private RoundedModel read(ModelSource model) {
        RoundedModel read = RoundedModel.of(reading(), new QuantizedFiles(build.spec(), Log.QUIET).compiled(model));
        return OriginalModel.file(model, spec)
                .filter(file -> OriginalModel.isMissing(read.function()))
                .map(file -> OriginalModel.of(read.function(), file, reading(), model))
                .orElse(read);
    }

    private ReadOptions reading() {
        return build.spec().options(build.board()).reading();
    }

    private static String summary(VerifyReport report) {
        long outputs = report.cases().stream()
                .filter(c -> !c.isProgram())
                .mapToLong(VerifyReport.Case::outputs)
                .sum();
        long cases = report.cases().stream().filter(c -> !c.isProgram()).count();
        String verdict = report.bitExact() ? "Bit-exact" : "Within the tolerance";
        return verdict + " on " + report.ranOn() + ": " + cases + " cases, " + outputs + " outputs";
    }
}
