// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.verify;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kiln.base.KeptLog;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.firmware.update.ModelRegion.DeviceModels.UpdateFile;
import io.kiln.firmware.update.TestKeys;
import io.kiln.flow.Flow;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.flow.spec.BuildSpec.VerifyOn;
import io.kiln.flow.spec.BuildSpec.VerifySpec;
import io.kiln.flow.spec.DeviceSpec;
import io.kiln.flow.spec.SpecDraft;
import io.kiln.flow.spec.UpdateSpec;
import io.kiln.process.TestPrograms;
import io.kiln.toolchain.compiler.TestToolchains;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A model that hears: recordings go in, and image and interpreters answer the same. */
final class AudioFlowTest {
    private static final String MFCC = """
            schema: 1
            sampleRate: 8000
            frames: {window: 256, hop: 200, preEmphasis: 0.97}
            mel: {channels: 24, lower: 60}
            log: {offset: 1e-6}
            dct: {coefficients: 10}
            normalize: {mean: -1, scale: 0.5}
            quantize: {scale: 0.0625, zeroPoint: 3}
            """;

    private static final String MODEL = """
            def @main(%rows: Tensor[(1, 4, 10), int8]) {
              %0 = qnn.dequantize(%rows, 0.0625f, 3);
              %1 = tanh(%0);
              qnn.quantize(%1, 0.0078125f, 0, out_dtype="int8")
            }
            """;

    @TempDir
    private Path folder;

    /** A board with 16 KB of memory is among them, half of what a second of audio takes. */
    @ParameterizedTest
    @CsvSource({"qemu-riscv32, qemu-system-riscv32", "microbit, qemu-system-arm"})
    void recordingsAreAnsweredBitExact(String board, String emulator) throws IOException {
        TestPrograms.need(emulator);
        verify(board);
    }

    @Test
    void theProfileSaysWhatARowTakes() throws IOException {
        TestPrograms.need("qemu-system-arm");
        verify("mps2-an386");
        KeptLog log = new KeptLog();

        new Flow(log, TestToolchains.environment(Log.QUIET)).profile(spec("mps2-an386"));

        assertThat(log.said())
                .filteredOn(line -> line.matches(
                        "Preprocessing of kws: [0-9,]{6} instructions for a row, [0-9,]{7} for its 4 rows"))
                .hasSize(1);
        JsonNode counted = json("profile").path("preprocessing").get(0);
        JsonNode reported = json("report").path("preprocessing").get(0);
        assertThat(counted.path("instructions").asLong())
                .isEqualTo(4 * counted.path("rowInstructions").asLong());
        assertThat(reported.path("instructions")).isEqualTo(counted.path("instructions"));
        assertThat(reported.path("codeBytes").asLong()).isBetween(500L, 5_000L);
        assertThat(folder.resolve("out/firmware/codegen/host/include/tvmgen_kws_preprocess.h"))
                .content()
                .contains("#define TVMGEN_KWS_PREPROCESS_STATE_SIZE "
                        + reported.path("stateBytes").asLong());
        assertThat(folder.resolve("out/kiln/index.html")).content().contains("Signal processing");
    }

    private JsonNode json(String report) throws IOException {
        return new ObjectMapper()
                .readTree(folder.resolve("out/kiln/" + report + ".json").toFile());
    }

    /** Models in slots are updated without the signal processing, which stays with the program that calls it. */
    @Test
    void aModelInASlotHears() throws IOException {
        TestPrograms.need("qemu-system-arm");
        UpdateSpec update = new UpdateSpec(
                UpdateSpec.Models.SLOTS,
                UpdateSpec.Header.NONE,
                Optional.of(TestKeys.write(folder, 1)),
                new UpdateSpec.Versions("1.0.0", "1.0.0", "0.0.0"));
        verify(SpecDraft.of(spec("mps2-an386")).update(update).build());
        String before = interfaceOfUpdate();

        // A model that was trained with other features does not suit the firmware.
        write("kws.preprocess.yaml", MFCC.replace("mean: -1", "mean: -2"));
        Flow flow = new Flow(Log.QUIET, TestToolchains.environment(Log.QUIET));
        BuildSpec next = SpecDraft.of(spec("mps2-an386")).update(update).build();
        flow.generate(next);
        flow.link(next);
        assertThat(interfaceOfUpdate()).isNotEqualTo(before);
    }

    private String interfaceOfUpdate() {
        return UpdateFile.read(folder.resolve("out/kws.update"))
                .regions()
                .get(0)
                .interfaceDigest();
    }

    private void verify(String board) throws IOException {
        verify(spec(board));
    }

    private void verify(BuildSpec spec) throws IOException {
        write("kws.preprocess.yaml", MFCC);

        new Flow(Log.QUIET, TestToolchains.environment(Log.QUIET)).build(spec, DeviceSpec.USUAL);

        JsonNode verify = json("verify");
        assertThat(verify.path("bitExact").asBoolean()).isTrue();
        assertThat(verify.path("cases"))
                .extracting(each -> each.path("name").asText())
                .containsExactly(
                        "kws/random_0", "kws/random_1", "kws.audio/audio_0", "kws.audio/noise_0", "kws.audio/noise_1");
        assertThat(folder.resolve("out/firmware/codegen/host/include/tvmgen_kws_preprocess.h"))
                .content()
                .contains("#define TVMGEN_KWS_PREPROCESS_SAMPLES 856");
    }

    /** The C is part of the archive, and so is the image's ear; only its answers cannot be told without the description. */
    @Test
    void anArchiveBringsTheSignalProcessing() throws IOException {
        write("kws.preprocess.yaml", MFCC);
        Flow flow = new Flow(Log.QUIET, TestToolchains.environment(Log.QUIET));
        flow.generate(spec("mps2-an386"));
        Path archive = folder.resolve("out/generated-sources/kiln/model-mlf.tar");
        Path again = Files.createDirectories(folder.resolve("again"));
        BuildSpec spec = SpecDraft.of(
                        new Layout(again, again.resolve("out"), "kws"),
                        List.of(new ModelSource(Files.copy(archive, again.resolve("kws.tar")), "kws")),
                        "mps2-an386")
                .verify(new VerifySpec(VerifyOn.NONE, Optional.empty(), 0, 0))
                .build();

        flow.build(spec, DeviceSpec.USUAL);

        assertThat(again.resolve("out/firmware/app/kiln_app_models.c"))
                .content()
                .contains("\"kws.audio\"");
    }

    @Test
    void anExportBringsTheSignalProcessing() throws IOException {
        write("kws.preprocess.yaml", MFCC);

        new Flow(Log.QUIET, TestToolchains.environment(Log.QUIET)).export(spec("mps2-an386"), "c", "", false);

        Path library = folder.resolve("out/export/c/kiln_kws");
        assertThat(filesOf(library)).contains("kws_preprocess.c", "tvmgen_kws_preprocess.h");
    }

    private static List<String> filesOf(Path library) throws IOException {
        try (Stream<Path> files = Files.walk(library)) {
            return files.map(file -> file.getFileName().toString()).toList();
        }
    }

    @Test
    void mistakesOfDescriptionAndModelLeaveNothingBehind() throws IOException {
        write("kws.preprocess.yaml", MFCC.replace("hop: 200", "hop: 0").replace("lower: 60", "lowest: 60"));
        assertThat(refused().problems())
                .extracting(problem -> problem.where().replaceFirst(".*/", ""))
                .containsExactlyInAnyOrder("kws.preprocess.yaml:3:23", "kws.preprocess.yaml:4:21");

        write("kws.preprocess.yaml", MFCC.replace("coefficients: 10", "coefficients: 12"));
        assertThat(refused())
                .hasMessageContaining("a row has 12 features, which do not fill `rows` int8[1, 4, 10]")
                .hasMessageContaining("kws.preprocess.yaml:6:7");
        assertThat(folder.resolve("out/generated-sources")).doesNotExist();
    }

    private KilnException refused() {
        return catchThrowableOfType(
                KilnException.class,
                () -> new Flow(Log.QUIET, TestToolchains.environment(Log.QUIET)).generate(spec("mps2-an386")));
    }

    private BuildSpec spec(String board) throws IOException {
        Path model = write("kws.relay", MODEL);
        byte[] recording = new byte[1712];
        for (int i = 0; i < recording.length; i++) {
            recording[i] = (byte) (i * i / 97);
        }
        Path vectors = Files.createDirectories(folder.resolve("vectors"));
        Files.write(vectors.resolve("audio_0.bin"), recording);
        return SpecDraft.of(
                        new Layout(folder, folder.resolve("out"), "kws"), List.of(new ModelSource(model, "kws")), board)
                .verify(new VerifySpec(VerifyOn.EMULATOR, Optional.of(vectors), 2, 0))
                .build();
    }

    private Path write(String name, String text) throws IOException {
        return Files.writeString(folder.resolve(name), text);
    }
}
