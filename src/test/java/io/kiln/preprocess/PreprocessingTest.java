// SPDX-License-Identifier: Apache-2.0
package io.kiln.preprocess;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.kiln.artifact.ModelMetadata;
import io.kiln.artifact.ModelMetadata.Io;
import io.kiln.artifact.ModelMetadata.TensorInfo;
import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.base.KilnException;
import io.kiln.base.Problem;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PreprocessingTest {
    private static final String SPEECH = """
            schema: 1
            sampleRate: 16000
            frames: {window: 480, hop: 320}
            mel: {channels: 40, lower: 20, upper: 4000}
            log: {offset: 1e-6}
            """;

    @Test
    void everythingThatIsLeftOutHasItsUsualValue() {
        AudioPipeline pipeline = parse(
                        "schema: 1\nsampleRate: 8000\nframes: {window: 200, hop: 80}\nmel: {channels: 20}")
                .pipeline();

        assertThat(pipeline.spectrum().fft()).isEqualTo(256);
        assertThat(pipeline.framing().shape()).isEqualTo(AudioPipeline.Shape.HANN);
        assertThat(pipeline.mel()).contains(new AudioPipeline.Mel(20, 0, 4000, false, false, false));
        assertThat(pipeline.log()).isEmpty();
    }

    @Test
    void whatTheSchemaForbidsIsNamedTogetherWithLinesAndColumns() {
        assertThat(mistakes("""
                schema: 1
                sampleRate: 16000
                frames:
                  window: 5000
                  hop: 0
                filters: {}
                mel: {channels: 40, upper: high, lower: 8001}
                """))
                .extracting(Problem::where)
                .containsExactlyInAnyOrder(
                        "kws.yaml:4:3",
                        "kws.yaml:5:3",
                        "kws.yaml:6:1",
                        "kws.yaml:7:21",
                        "kws.yaml:7:34",
                        "kws.yaml:7:34");
    }

    @Test
    void whatDoesNotFitTogetherIsNamedTogetherWithLinesAndColumns() {
        assertThat(mistakes("""
                schema: 1
                sampleRate: 16000
                frames: {window: 480, hop: 160, preEmphasis: 1.5}
                spectrum: {fft: 256}
                mel: {channels: 40, lower: 20, upper: 9000}
                dct: {coefficients: 41}
                normalize:
                  mean: [1, 2]
                  scale: 0
                """))
                .extracting(p -> p.where() + " " + p.what())
                .containsExactlyInAnyOrder(
                        "kws.yaml:3:33 frames.preEmphasis is 1.5",
                        "kws.yaml:4:12 a transform of 256 points does not take a window of 480 samples",
                        "kws.yaml:5:32 mel.upper is 9000",
                        "kws.yaml:6:7 41 coefficients are more than the 40 channels",
                        "kws.yaml:6:1 the cosine transform is one of logarithms",
                        "kws.yaml:9:3 normalize.scale is 0");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "channels: 100                           | 100 channels are more than the 33 bins of the spectrum",
                "channels: 30, upper: 2000               | no bin of the spectrum lies in the channels",
                "channels: 10, lower: 3000, upper: 3000  | the filterbank ends where it begins, or before",
                "channels: 1, upper: 1                   | no bin of the spectrum lies in the channels [0]",
                "channels: 1, upper: 1, norm: slaney     | no bin of the spectrum lies in the channels [0]",
                "channels: 2, lower: 1e-300, upper: 1e-290  | no bin of the spectrum lies in the channels [0, 1]",
                "channels: 1, upper: 1e-310, norm: slaney   | no bin of the spectrum lies in the channels [0]",
                "channels: 1, upper: 250.0000001         | no bin of the spectrum lies in the channels [0]",
            })
    void filtersThatHearNothingAreRefused(String mel, String what) {
        assertThat(mistakes("schema: 1\nsampleRate: 16000\nframes: {window: 64, hop: 32}\nmel: {" + mel + "}\n"))
                .singleElement()
                .satisfies(p -> assertThat(p.what()).startsWith(what))
                .satisfies(p -> assertThat(p.where()).startsWith("kws.yaml:4:"));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "INT8    | 1,49,39 | 0.1 | a row has 40 features, which do not fill `input` int8[1, 49, 39]   | 4:7",
                "INT8    | 1,40,49 | 0.1 | a row has 40 features, which do not fill `input` int8[1, 40, 49]   | 4:7",
                "INT8    | 1,49,40 | 0   | the model's input `input` int8[1, 49, 40] has no scale             | 1:1",
                "FLOAT32 | 1,49,40 | 0   | the features are integers, and `input` float32[1, 49, 40] is not of such a type | 1:1",
                "INT16   | 9999,40 | 0.1 | no mistake                                                         | -",
                "INT16   | 99999,40| 0.1 | one input of the model takes 31999840 samples                      | 3:23",
                "INT8    | 1,1960  | 0.1 | no mistake                                                         | -",
                "UINT8   | 1,1,49,40| 0.1 | no mistake                                                        | -",
                "INT8    | 1,49,40 |1e20 | a feature times its scale is out of the range of `input` int8[1, 49, 40], whose scale is 1.0E20 | 1:1",
            })
    void aModelWhoseInputDoesNotFitIsRefused(DType dtype, String shape, float scale, String what, String where) {
        List<Integer> dimensions =
                List.of(shape.split(",")).stream().map(Integer::valueOf).toList();
        ModelMetadata model = model(new TensorInfo("input", "input", dtype, dimensions, scale, 0));
        KilnException refused =
                catchThrowableOfType(KilnException.class, () -> parse(SPEECH).of(model));

        if (what.equals("no mistake")) {
            assertThat(refused).isNull();
        } else {
            assertThat(refused.problems()).singleElement().satisfies(p -> {
                assertThat(p.what()).isEqualTo(what);
                assertThat(p.where()).isEqualTo("kws.yaml:" + where);
            });
        }
    }

    @Test
    void aListOfTheWrongLengthIsRefused() {
        assertThat(mistakes(SPEECH + "normalize: {mean: [1, 2]}\n"))
                .extracting(p -> p.where() + " " + p.what())
                .containsExactly("kws.yaml:6:13 2 numbers for 40 features");
    }

    @Test
    void scalesOfVeryDifferentSizesAreRefused() {
        assertThat(mistakes(SPEECH.replace("channels: 40", "channels: 2") + "normalize: {scale: [1e4, 1e-4]}\n"))
                .extracting(p -> p.where() + " " + p.what())
                .containsExactly("kws.yaml:6:13 the largest scale is more than 65536 times the least");
    }

    /** Without a logarithm, so much would be shifted out of 64 bits. */
    @Test
    void aScaleThatLeavesNothingOfAnEnergyIsRefused() {
        TensorInfo input = new TensorInfo("input", "input", DType.INT8, List.of(1, 33), 1e30f, 0);
        assertThat(catchThrowableOfType(
                                KilnException.class,
                                () -> parse("schema: 1\nsampleRate: 8000\nframes: {window: 64, hop: 64}\n")
                                        .of(model(input)))
                        .problems())
                .singleElement()
                .satisfies(p -> assertThat(p.what()).startsWith("a feature times its scale is out of the range"));
    }

    /** The first coefficient of silence, whose energies are the least that there are. */
    @ParameterizedTest
    @CsvSource({"1, true", "50, true", "100, false"})
    void coefficientsThatDoNotFitIn32BitsAreRefused(int scale, boolean fits) {
        String yaml =
                "schema: 1\nsampleRate: 16000\nframes: {window: 512, hop: 512}\nmel: {channels: 64, upper: 8000}\n"
                        + "log: {base: 2, scale: " + scale + "}\ndct: {coefficients: 2}\nnormalize: {scale: 0.01}\n";
        TensorInfo input = new TensorInfo("input", "input", DType.INT16, List.of(1, 2), 0.1f, 0);
        KilnException refused =
                catchThrowableOfType(KilnException.class, () -> parse(yaml).of(model(input)));
        if (fits) {
            ModelPreprocessing preprocessing = parse(yaml).of(model(input));
            int first = preprocessing
                    .input(new short[preprocessing.samples()])
                    .buffer()
                    .getShort();
            assertThat(first).isNegative();
        } else {
            assertThat(refused.problems()).singleElement().satisfies(p -> {
                assertThat(p.what()).endsWith("can exceed 32,767");
                assertThat(p.where()).isEqualTo("kws.yaml:5:16");
            });
        }
    }

    @Test
    void aScaleOfTheDescriptionFillsInButDoesNotWin() {
        String yaml = SPEECH + "quantize: {scale: 0.25, zeroPoint: 200}\n";
        TensorInfo bare = new TensorInfo("input", "input", DType.UINT8, List.of(1, 40), 0, 0);
        TensorInfo other = new TensorInfo("input", "input", DType.INT8, List.of(1, 40), 0.5f, 3);

        assertThat(parse(yaml).plan(model(bare)).quantization().zeroPoint()).isEqualTo(200);
        assertThat(catchThrowableOfType(KilnException.class, () -> parse(yaml).of(model(other)))
                        .problems())
                .extracting(p -> p.where() + " " + p.what())
                .containsExactly(
                        "kws.yaml:6:1 the model's input `input` int8[1, 40] has the scale 0.5 and the zero point 3",
                        "kws.yaml:6:25 the zero point 200 is none of int8");
    }

    /** Hostile bytes are read or refused. */
    @Test
    void damagedFilesAreReadOrRefused() {
        Random random = new Random(3);
        int read = 0;
        for (int i = 0; i < 300; i++) {
            byte[] bytes = SPEECH.getBytes(java.nio.charset.StandardCharsets.US_ASCII);
            for (int k = 0; k < 1 + i % 3; k++) {
                bytes[random.nextInt(bytes.length)] = (byte) "0123456789 :,{}[]-\n.e\0x".charAt(random.nextInt(23));
            }
            try {
                ModelMetadata model = model(new TensorInfo("input", "input", DType.INT8, List.of(1, 40), 0.1f, 0));
                Preprocessing preprocessing = Preprocessing.parse("kws.yaml", Bytes.wrap(bytes));
                ModelPreprocessing of = preprocessing.of(model);
                assertThat(of.input(new short[of.samples()]).size()).isEqualTo(40);
                read++;
            } catch (KilnException e) {
                assertThat(e.problems()).isNotEmpty();
            }
        }
        assertThat(read).isBetween(1, 299);
    }

    private static List<Problem> mistakes(String yaml) {
        return catchThrowableOfType(KilnException.class, () -> parse(yaml)).problems();
    }

    private static Preprocessing parse(String yaml) {
        return Preprocessing.parse("kws.yaml", Bytes.ofText(yaml));
    }

    static ModelMetadata model(TensorInfo input) {
        return new ModelMetadata(
                "kws",
                "c",
                ModelMetadata.Interface.typed(Io.CALLER, List.of(input), List.of(input)),
                new ModelMetadata.Memory(0, 16, 0),
                new ModelMetadata.Plan("none", 0, 0, List.of()),
                List.of());
    }
}
