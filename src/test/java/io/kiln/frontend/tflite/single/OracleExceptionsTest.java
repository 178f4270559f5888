// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.single;

import static java.util.stream.Collectors.toMap;
import static java.util.stream.Collectors.toSet;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * The operators' cases that TensorFlow Lite's library does not decide: all of them, with the reason of each. Another one needs a line
 * here.
 */
class OracleExceptionsTest {
    private static final String NO_SUCH_KERNEL = "TensorFlow Lite has no such kernel";
    private static final String MICRO_ALONE = "TensorFlow Lite Micro alone has these operators";
    private static final String UNDEFINED_CAST =
            "C++ does not define what floats become that are beyond the integers' range";
    private static final String OVERFLOW =
            "the reference kernels' sums with the zero point overflow, which C++ does not define; ours saturate";
    /** Operators whose generated C is compared with the reference interpreter alone. */
    private static Map<String, String> withoutOracle() {
        Map<String, String> reasons = new LinkedHashMap<>();
        reasons.put("CAST_ANY_FLOAT", UNDEFINED_CAST);
        reasons.put("QUANTIZE_ANY_FLOAT", UNDEFINED_CAST);
        reasons.put("SQRT_QUANTIZED", "TensorFlow Lite 2.20 has no kernel for quantized integers; a later release has");
        reasons.put("TILE_INT16", "TensorFlow Lite 2.20 has no kernel of int16");
        reasons.put("ADD_N_INT8", "TensorFlow Lite has no kernel of int8");
        reasons.put("DIV_INT8", "TensorFlow Lite has kernels of uint8 and none of int8");
        reasons.put("CONCATENATION_UINT64", "TensorFlow Lite has no kernel for uint64");
        reasons.put("CIRCULAR_BUFFER", "TensorFlow Lite has no such operator");
        reasons.put("STREAM", "TensorFlow Lite has no circular buffers");
        reasons.put("SVDF_INT8", "TensorFlow Lite has no kernel with a state of int8");
        reasons.put("LSTM_INT16", "TensorFlow Lite has no kernel of int16 data");
        reasons.put(
                "BATCH_MATMUL_REPEATED_INT8",
                "TensorFlow Lite leaves products 0 where a matrix of int8 is repeated for several others");
        reasons.put("CUMSUM_INT8", "TensorFlow Lite has no kernel of int8");
        reasons.put("ADD_N_INT8_STRADDLING", "TensorFlow Lite has no kernel of int8");
        reasons.put("CUMSUM_INT8_STRADDLING", "TensorFlow Lite has no kernel of int8");
        reasons.put(
                "FULLY_CONNECTED_INT16_BIAS32",
                "TensorFlow Lite rescales these sums in double precision, and asks for an option that tells the bias's"
                        + " type");
        reasons.put("AVERAGE_POOL_2D_WIDE", "TensorFlow Lite's sum of 32 bits overflows");
        reasons.put("SIGNAL_WINDOW", NO_SUCH_KERNEL);
        reasons.put("SIGNAL_FFT_AUTO_SCALE", NO_SUCH_KERNEL);
        reasons.put("SIGNAL_RFFT", NO_SUCH_KERNEL);
        reasons.put("SIGNAL_IRFFT", NO_SUCH_KERNEL);
        reasons.put("SIGNAL_ENERGY", NO_SUCH_KERNEL);
        reasons.put("SIGNAL_FRAMER", NO_SUCH_KERNEL);
        reasons.put("SIGNAL_STACKER", NO_SUCH_KERNEL);
        reasons.put("SIGNAL_DELAY", NO_SUCH_KERNEL);
        reasons.put("SIGNAL_OVERLAP_ADD", NO_SUCH_KERNEL);
        reasons.put("SignalFilterBank", MICRO_ALONE);
        reasons.put("SignalFilterBankSquareRoot", MICRO_ALONE);
        reasons.put("SignalFilterBankSpectralSubtraction", MICRO_ALONE);
        reasons.put("SignalPCAN", MICRO_ALONE);
        reasons.put("SignalFilterBankLog", MICRO_ALONE);
        reasons.put("SignalFilterBankChain", MICRO_ALONE);
        reasons.put("AudioPreprocessor", MICRO_ALONE);
        reasons.put("TINY_SCALE_QUANTIZE", OVERFLOW);
        reasons.put("TINY_SCALE_FUNCTION", OVERFLOW);
        reasons.put("TINY_SCALE_LAYER", OVERFLOW);
        return reasons;
    }

    /** A case that is declared and not drawn tests nothing. */
    @Test
    void everyCaseThatIsDeclaredIsDrawn() throws IOException {
        Set<String> drawn =
                SingleOperatorTest.operators().map(OperatorCases::name).collect(toSet());
        List<String> declared = new ArrayList<>();
        try (Stream<Path> files = Files.list(Path.of("src/test/java/io/kiln/frontend/tflite/single"))) {
            for (Path file : files.filter(
                            f -> f.toString().endsWith(".java") && !f.toString().endsWith("Test.java"))
                    .toList()) {
                declared.addAll(declared(file.getFileName().toString().replace(".java", "")));
            }
        }
        assertThat(declared).hasSizeGreaterThan(100);
        assertThat(drawn).containsAll(declared);
    }

    /** The names of a class's cases, in constants and in lists. */
    private static List<String> declared(String name) {
        List<String> names = new ArrayList<>();
        if (name.equals("package-info")) {
            return names;
        }
        try {
            for (Field field : Class.forName(OperatorCases.class.getPackageName() + "." + name)
                    .getDeclaredFields()) {
                if (Modifier.isStatic(field.getModifiers()) && !field.isSynthetic()) {
                    field.setAccessible(true);
                    Object value = field.get(null);
                    List<?> all = value instanceof List<?> list ? list : List.of(value);
                    all.stream()
                            .filter(OperatorCases.class::isInstance)
                            .map(each -> ((OperatorCases) each).name())
                            .forEach(names::add);
                }
            }
        } catch (ReflectiveOperationException e) {
            throw new LinkageError(e.getMessage(), e);
        }
        return names;
    }

    @Test
    void operatorsThatTheLibraryIsNotAskedForAreListed() {
        assertThat(SingleOperatorTest.operators()
                        .filter(operator -> !operator.hasOracle())
                        .collect(toMap(OperatorCases::name, OperatorCases::reason)))
                .containsExactlyInAnyOrderEntriesOf(withoutOracle());
    }
}
