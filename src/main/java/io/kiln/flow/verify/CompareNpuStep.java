// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.verify;

import io.kiln.artifact.ModelMetadata;
import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.FileFailure;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.base.WholeFiles;
import io.kiln.base.elf.ElfFile;
import io.kiln.compile.ReadOptions;
import io.kiln.device.emulator.Emulator;
import io.kiln.flow.build.GenerateStep;
import io.kiln.flow.build.RunnableImage;
import io.kiln.flow.resolve.NpuFit;
import io.kiln.flow.resolve.ResolvedBuild;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.ir.Function;
import io.kiln.reference.Interpreter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/**
 * Runs an image with parts for an NPU, whose model says what each operation leaves, and names the first one that leaves something else than the model
 * as it was before Vela.
 */
public final class CompareNpuStep {
    private static final Duration LIMIT = Duration.ofMinutes(10);

    /** The variable of the image that makes operations say what they leave. */
    private static final String LOGS = "kiln_npu_logs";

    private final Log log;
    private final ResolvedBuild build;
    private final NpuOperationCheck npu = new NpuOperationCheck();

    public CompareNpuStep(Log log, ResolvedBuild build) {
        this.log = log;
        this.build = build;
    }

    /** Whether a model of the build has parts for an NPU: its image is not driven operator by operator. */
    public static boolean concerns(ResolvedBuild build) {
        return NpuFit.hasParts(build);
    }

    /**
     * Compares all models with seeded random inputs.
     *
     * @throws KilnException if an answer differs, with the operation; or if a model's original is not known
     */
    public void run() {
        RunnableImage image = RunnableImage.withDefaultApplication(log, build);
        compare(
                image.file(),
                new Emulator(
                        image.board(),
                        LIMIT,
                        Optional.of(build.spec().layout().reports().resolve("compare-layers.log")),
                        build.spec().semihosting()));
    }

    /** Compares what an image answers. */
    void compare(Path image, Emulator emulator) {
        Map<String, ModelSource> sources =
                build.spec().models().stream().collect(Collectors.toMap(ModelSource::name, model -> model));
        List<ModelMetadata> models = GenerateStep.store(build.spec().layout()).metadata();
        emulator.talk(saying(image), Protocols.of(build, LIMIT), new Lines(), session -> {
            for (int i = 0; i < models.size(); i++) {
                ModelMetadata model = models.get(i);
                List<Bytes> inputs = TestCases.random(1, build.spec().verify().seed(), model.inputs())
                        .get(0)
                        .inputs();
                npu.clear();
                compare(
                        sources.get(model.name()),
                        inputs,
                        session.run(i, session.models().get(i), inputs));
            }
            return session;
        });
    }

    /** Text of the console, of which whole lines are looked at. */
    private final class Lines implements Consumer<String> {
        private final StringBuilder line = new StringBuilder();

        @Override
        public void accept(String text) {
            for (int i = 0; i < text.length(); i++) {
                if (text.charAt(i) == '\n') {
                    log.debug(line.toString());
                    npu.accept(line.toString());
                    line.setLength(0);
                } else if (text.charAt(i) != '\r') {
                    line.append(text.charAt(i));
                }
            }
        }
    }

    private void compare(ModelSource source, List<Bytes> inputs, List<Bytes> answer) {
        Function read = RoundedModel.of(reading(), source).function();
        if (!OriginalModel.isMissing(read)) {
            return;
        }
        Path file = OriginalModel.file(source, build.spec().verify())
                .orElseThrow(() -> new KilnException(Failure.CONFIG.problem(
                        "only an NPU knows what operations of model `" + source.name() + "` compute",
                        source.file().toString(),
                        "the model as it was before Vela",
                        "Name it with kiln.npu.original")));
        Function original = OriginalModel.of(read, file, reading(), source).function();
        if (!answer.equals(Interpreter.run(original, inputs))) {
            throw new KilnException(Failure.VERIFY.problem(
                    npu.firstWrong(original, Interpreter.runAll(original, inputs))
                            .map(wrong -> "the first wrong operation of the NPU: " + wrong)
                            .orElse("the answer is not the original's, although all operations of the NPU leave its"
                                    + " layers"),
                    source.file().toString(),
                    "what " + file.getFileName() + " computes",
                    "kiln:inspect shows the operation and what it reads; if nothing has changed the file since Vela"
                            + " wrote it, the mistake is Vela's or Kiln's"));
        }
        log.info("Model " + source.name() + ": what " + npu.count() + " operations of the NPU lead to is the answer of "
                + file.getFileName());
    }

    private ReadOptions reading() {
        return build.spec().options(build.board()).reading();
    }

    /** A copy of an image whose operations say what they leave. */
    private Path saying(Path image) {
        ElfFile elf = ElfFile.read(image);
        ElfFile.Symbol variable = elf.symbols().stream()
                .filter(symbol -> symbol.name().equals(LOGS))
                .findFirst()
                .orElseThrow(() -> new KilnException(Failure.BOARD.problem(
                        "the image has no model of the NPU, whose operations could be looked at",
                        "board " + build.board().id(),
                        "virtual-corstone-300, or a board with it as a stand-in",
                        "Choose it with kiln.board, or add emulator: {standIn: virtual-corstone-300} to the board")));
        ElfFile.Section section = elf.sections().get(variable.section());
        try {
            byte[] bytes = Files.readAllBytes(image);
            bytes[(int) (section.offset() + variable.value() - section.address())] = 1;
            Path copy = build.spec().layout().reports().resolve("compare-layers.elf");
            WholeFiles.write(copy, bytes);
            return copy;
        } catch (IOException e) {
            throw FileFailure.of("cannot read", image, e);
        }
    }
}
