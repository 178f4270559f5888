// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.compile.CompiledModel;
import io.kiln.compile.HostProgram;
import io.kiln.compile.ModelCompiler;
import io.kiln.compile.RequestDraft;
import io.kiln.frontend.InputShapes;
import io.kiln.frontend.InputValues;
import io.kiln.ir.Function;
import io.kiln.ir.Parameter;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import io.kiln.process.Command;
import io.kiln.process.KeptPrograms;
import io.kiln.process.ProcessRunner.ProcessResult;
import io.kiln.reference.Interpreter;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveInputStream;
import org.apache.commons.compress.compressors.gzip.GzipCompressorInputStream;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * All public versions of the voice activity detector Silero VAD, as an npm package has them: their branch for 16 kHz answers as ONNX Runtime over 100
 * frames that hand on their state, and so does the C. Sigmoids and logarithms of libraries differ in their last digits.
 */
@EnabledIfSystemProperty(
        named = "kiln.golden",
        matches = "all",
        disabledReason = "loads a package, and compiles models of 2 MB: -Dkiln.golden=all")
class SileroTest {
    private static final String PACKAGE = "@ricky0123/vad-web@0.0.31";
    private static final String ARCHIVE = "ricky0123-vad-web-0.0.31.tgz";
    private static final int FRAMES = 100;
    private static final double CLOSE = 2e-5;

    @TempDir
    private Path folder;

    @ParameterizedTest
    @CsvSource({"legacy, 'input:1,512'", "v5, 'input:1,576;state:2,1,128'", "v6, 'input:1,576;state:2,1,128'"})
    void framesAnswerAsInOnnxRuntime(String version, String shapes) {
        Bytes file = file("package/dist/silero_vad_" + version + ".onnx");
        Function function = OnnxFrontend.read(
                file, "silero.onnx", "vad", InputShapes.parse(shapes).with(InputValues.parse("sr=16000")));
        List<Parameter> all = new ArrayList<>(function.params());
        all.add(new Parameter(-1, "sr", new TensorType(Shape.scalar(), DType.INT64), Optional.empty()));
        Bytes rate = Bytes.wrap(ByteBuffer.allocate(Long.BYTES)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putLong(16_000)
                .array());
        List<Bytes> states =
                new ArrayList<>(function.params().subList(1, function.params().size()).stream()
                        .map(state -> Bytes.wrap(new byte[(int) state.type().bytes()]))
                        .toList());
        List<Bytes> inputs = new ArrayList<>();
        ByteArrayOutputStream answers = new ByteArrayOutputStream();
        Random random = new Random(1);
        for (int frame = 0; frame < FRAMES; frame++) {
            List<Bytes> own = new ArrayList<>(List.of(sound(function.params().get(0), frame, random)));
            own.addAll(states);
            List<Bytes> given = new ArrayList<>(own);
            given.add(rate);
            List<Bytes> answer = Interpreter.run(function, own);
            List<Bytes> runtime = OnnxRuntime.run(file, all, given);
            for (int i = 0; i < answer.size(); i++) {
                requireClose(version + ", frame " + frame + ", output " + i, answer.get(i), runtime.get(i));
            }
            inputs.addAll(own);
            answer.forEach(output -> answers.writeBytes(output.toArray()));
            states = new ArrayList<>(runtime.subList(1, runtime.size()));
        }
        CompiledModel compiled = ModelCompiler.compile(
                RequestDraft.of(Path.of("silero.onnx"), "c").name("vad").build(), function);
        Bytes c = HostProgram.build(
                        folder,
                        List.of(compiled.library().metadata()),
                        List.of(compiled.library().artifacts().artifacts()))
                .run(inputs);
        requireClose("C of " + version, c, Bytes.wrap(answers.toByteArray()));
    }

    /** A tone that swells, in noise. */
    private static Bytes sound(Parameter input, int frame, Random random) {
        ByteBuffer samples = ByteBuffer.allocate((int) input.type().bytes()).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; samples.hasRemaining(); i++) {
            double tone = Math.sin((512 * frame + i) * 2 * Math.PI * 220 / 16_000) * frame / FRAMES;
            samples.putFloat((float) (0.5 * tone + 0.05 * random.nextGaussian()));
        }
        return Bytes.wrap(samples.array());
    }

    private Bytes file(String name) {
        ProcessResult packed = KeptPrograms.make(
                folder,
                ARCHIVE,
                Command.of("npm", List.of("pack", "--silent", PACKAGE)).within(Duration.ofMinutes(5)));
        assertThat(packed.exitCode()).as(packed.message()).isZero();
        try (TarArchiveInputStream archive = new TarArchiveInputStream(
                new GzipCompressorInputStream(Files.newInputStream(folder.resolve(ARCHIVE))), "UTF-8")) {
            TarArchiveEntry entry = archive.getNextEntry();
            while (!entry.getName().equals(name)) {
                entry = archive.getNextEntry();
            }
            return Bytes.wrap(archive.readAllBytes());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void requireClose(String what, Bytes actual, Bytes expected) {
        assertThat(actual.size()).as(what).isEqualTo(expected.size());
        for (int at = 0; at < expected.size(); at += Float.BYTES) {
            double wanted = expected.buffer().getFloat(at);
            double given = actual.buffer().getFloat(at);
            assertThat(Math.abs(given - wanted)).as(what).isLessThanOrEqualTo(CLOSE * Math.max(1, Math.abs(wanted)));
        }
    }
}
