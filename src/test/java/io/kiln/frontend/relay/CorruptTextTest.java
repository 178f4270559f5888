// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.relay;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.artifact.NamedTensor;
import io.kiln.artifact.ParameterFile;
import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.base.KilnException;
import io.kiln.compile.CompileRequest;
import io.kiln.compile.ModelCompiler;
import io.kiln.compile.RequestDraft;
import io.kiln.fuzz.ReaderProperty;
import io.kiln.ir.Function;
import io.kiln.ir.Verifier;
import io.kiln.ir.text.RelayPrinter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** Whatever a text holds, reading it gives a function that verifies and compiles, or a message, and quickly. */
class CorruptTextTest {
    private static final List<String> WORDS = List.of(
            "%0",
            "%1",
            "%x",
            "%w",
            "(",
            ")",
            "[",
            "]",
            "{",
            "}",
            ",",
            ";",
            "=",
            "->",
            "-1",
            "0",
            "1",
            "2147483647",
            "-129",
            "0f",
            "1e38f",
            "1e-44f",
            "nan",
            "True",
            "None",
            "meta[relay.Constant][0]",
            "meta[relay.Constant][7]",
            "\"NHWC\"",
            "\"",
            "/*",
            "*/",
            "//",
            "qnn.dense",
            "clip",
            "reshape",
            "nn.relu",
            "Tensor[(1, 8), int8]",
            "float32",
            "int64",
            "#[metadata]",
            "let",
            "fn",
            "axis=7",
            "units=0",
            "[[[[",
            "99999999999999999999");

    @Test
    void replacedWordsGiveAFunctionOrAMessage() {
        Random random = new Random(21);
        String[] words = Texts.WHOLE.split("(?<=[^A-Za-z0-9_.])|(?=[^A-Za-z0-9_.])", -1);
        int read = 0;
        for (int round = 0; round < 4000; round++) {
            String[] changed = words.clone();
            for (int changes = 1 + random.nextInt(3); changes > 0; changes--) {
                int at = random.nextInt(changed.length);
                changed[at] = random.nextInt(4) == 0
                        ? ""
                        : random.nextBoolean()
                                ? WORDS.get(random.nextInt(WORDS.size()))
                                : words[random.nextInt(words.length)];
            }
            read += read(String.join("", changed)) ? 1 : 0;
        }
        assertThat(read).isBetween(1, 3999);
    }

    @Test
    void flippedBytesGiveAFunctionOrAMessage() {
        byte[] original = Texts.WHOLE.getBytes(StandardCharsets.UTF_8);
        Random random = new Random(22);
        for (int round = 0; round < 4000; round++) {
            byte[] text = original.clone();
            for (int flips = 1 + random.nextInt(4); flips > 0; flips--) {
                text[random.nextInt(text.length)] = (byte) random.nextInt();
            }
            read(Bytes.wrap(text), Optional.empty());
        }
    }

    @Test
    void everyTruncationGivesAMessage() {
        for (int length = 0; length < Texts.WHOLE.strip().length(); length++) {
            assertThat(read(Texts.WHOLE.substring(0, length)))
                    .as("%d characters", length)
                    .isFalse();
        }
    }

    @Test
    void brokenParametersGiveAMessage() {
        byte[] params = Texts.params().toArray();
        Random random = new Random(23);
        for (int length = 0; length < params.length; length++) {
            assertThat(read(
                            Bytes.ofText(Texts.WITH_PARAMETERS),
                            Optional.of(Bytes.wrap(Arrays.copyOf(params, length)))))
                    .isFalse();
        }
        for (int round = 0; round < 2000; round++) {
            byte[] changed = params.clone();
            changed[random.nextInt(changed.length)] = (byte) random.nextInt();
            read(Bytes.ofText(Texts.WITH_PARAMETERS), Optional.of(Bytes.wrap(changed)));
        }
        assertThat(read(Bytes.ofText(Texts.WITH_PARAMETERS), Optional.of(Bytes.wrap(params))))
                .isTrue();
    }

    @Test
    void anEmptyDimensionInTheParametersIsAMessage() {
        Bytes params =
                ParameterFile.write(List.of(new NamedTensor("w", DType.INT8, List.of(0, 8), Bytes.wrap(new byte[0]))));

        assertThat(read(Bytes.ofText(Texts.WITH_PARAMETERS), Optional.of(params)))
                .isFalse();
    }

    private static boolean read(String text) {
        return read(Bytes.ofText(text), Optional.empty());
    }

    /** Whether the text was read as a model. */
    static boolean read(Bytes text, Optional<Bytes> params) {
        AtomicReference<Function> function = new AtomicReference<>();
        boolean isModel = ReaderProperty.holds(() -> {
            try {
                function.set(RelayFrontend.read(text, "corrupt.relay", params, "corrupt.params", "default"));
            } catch (KilnException e) {
                assertThat(e.getMessage()).containsPattern("corrupt\\.(relay|params)");
                throw e;
            }
        });
        if (isModel) {
            compile(function.get());
        }
        return isModel;
    }

    /** What was read must print, and compile unless a name of the model is none in C. */
    private static void compile(Function function) {
        Verifier.verify(function);
        assertThat(RelayPrinter.astext(function)).isNotEmpty();
        long largest = function.types().values().stream()
                .mapToLong(type -> type.shape().elements())
                .max()
                .orElse(0);
        if (largest < 1 << 12) {
            CompileRequest request =
                    RequestDraft.of(Path.of("corrupt.relay"), "c -keys=cpu").build();
            try {
                assertThat(ModelCompiler.compile(request, function)
                                .library()
                                .artifacts()
                                .artifacts())
                        .isNotEmpty();
            } catch (KilnException e) {
                assertThat(e.problems()).isNotEmpty();
            }
        }
    }
}
