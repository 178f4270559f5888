// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.frontend.CustomOperators;
import io.kiln.frontend.tflite.constant.ConstantImporters;
import io.kiln.frontend.tflite.custom.CustomImporter;
import io.kiln.frontend.tflite.custom.EthosUImporter;
import io.kiln.frontend.tflite.elementwise.BinaryImporters;
import io.kiln.frontend.tflite.elementwise.NumberImporters;
import io.kiln.frontend.tflite.elementwise.UnaryImporters;
import io.kiln.frontend.tflite.layer.LayerImporters;
import io.kiln.frontend.tflite.layer.NormalizationImporters;
import io.kiln.frontend.tflite.layer.ReductionImporters;
import io.kiln.frontend.tflite.layer.SequenceImporters;
import io.kiln.frontend.tflite.movement.ImageImporters;
import io.kiln.frontend.tflite.movement.IndexedWindowImporters;
import io.kiln.frontend.tflite.movement.LookupImporters;
import io.kiln.frontend.tflite.movement.MovementImporters;
import io.kiln.frontend.tflite.movement.PadImporters;
import io.kiln.frontend.tflite.movement.ReduceWindowImporters;
import io.kiln.frontend.tflite.movement.SliceImporters;
import io.kiln.frontend.tflite.operator.OperatorRecord;
import io.kiln.frontend.tflite.operator.Registration;
import io.kiln.frontend.tflite.schema.BuiltinOperator;
import io.kiln.frontend.tflite.signal.SignalImporters;
import io.kiln.frontend.tflite.signal.SignalImporters.FilterBankImporters;
import io.kiln.frontend.tflite.stateful.StatefulImporters;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The operators that Kiln compiles: the tables of all families combined. */
final class SupportedOperators {
    private static final List<Registration> ALL = Stream.of(
                    LayerImporters.ALL,
                    StatefulImporters.ALL,
                    MovementImporters.ALL,
                    SliceImporters.ALL,
                    UnaryImporters.ALL,
                    BinaryImporters.ALL,
                    NumberImporters.ALL,
                    ReductionImporters.ALL,
                    PadImporters.ALL,
                    IndexedWindowImporters.ALL,
                    ReduceWindowImporters.ALL,
                    LookupImporters.ALL,
                    NormalizationImporters.ALL,
                    SequenceImporters.ALL,
                    ImageImporters.ALL,
                    ConstantImporters.ALL,
                    SignalImporters.ALL,
                    FilterBankImporters.ALL,
                    List.of(Registration.custom(EthosUImporter.CODE, new EthosUImporter())))
            .flatMap(List::stream)
            .toList();

    private static final Map<String, Registration> BUILTIN = byName(false);
    private static final Map<String, Registration> CUSTOM = byName(true);

    private SupportedOperators() {}

    private static Map<String, Registration> byName(boolean isCustom) {
        return ALL.stream()
                .filter(r -> r.isCustom() == isCustom)
                .collect(Collectors.toUnmodifiableMap(Registration::name, Function.identity()));
    }

    /**
     * The importer of an operator in the file.
     *
     * @throws KilnException if the operator or its version is not supported
     */
    static Registration find(OperatorRecord operator, CustomOperators customOperators, Supplier<String> where) {
        Optional<String> custom = operator.custom();
        if (custom.isPresent()) {
            return custom(custom.get(), customOperators, where);
        }
        Registration registration = BUILTIN.get(operator.name());
        if (registration == null) {
            UnsupportedOperators.Refusal refusal = UnsupportedOperators.of(operator.builtin());
            throw Failure.OPERATOR.exception(
                    "operator " + operator.name() + " version " + operator.version() + " is not supported: it "
                            + refusal.reason(),
                    where.get(),
                    "one of the " + ALL.size() + " operators that the documentation lists",
                    refusal.next());
        }
        if (operator.version() < 1 || operator.version() > registration.maxVersion()) {
            throw Failure.OPERATOR.exception(
                    operator.name() + " version " + operator.version() + " is not supported",
                    where.get(),
                    "version 1 to " + registration.maxVersion(),
                    "Convert the model with a TensorFlow that writes an older version");
        }
        return registration;
    }

    /** A C function of the user takes precedence over Kiln's own operator. */
    private static Registration custom(String code, CustomOperators customOperators, Supplier<String> where) {
        return customOperators
                .of(code)
                .map(own -> Registration.custom(code, new CustomImporter(own)))
                .or(() -> Optional.ofNullable(CUSTOM.get(code)))
                .orElseThrow(() -> unknown(code, where.get()));
    }

    private static KilnException unknown(String code, String where) {
        Optional<UnsupportedOperators.Refusal> known = UnsupportedOperators.custom(code);
        return Failure.OPERATOR.exception(
                "no C function computes the custom operator `" + code + "`"
                        + known.map(refusal -> ", " + refusal.reason()).orElse(""),
                where,
                "a C function for it",
                known.map(refusal -> refusal.next() + ". ").orElse("")
                        + "Name one in the plugin's configuration: <customOperators><customOperator><code>" + code
                        + "</code><function>my_function</function></customOperator></customOperators>");
    }

    /** All names, in order. */
    static String names() {
        return ALL.stream().map(Registration::name).sorted().collect(Collectors.joining(", "));
    }

    /** Why builtin operators are not imported, and what to export instead. */
    static final class UnsupportedOperators {
        /**
         * A reason and advice.
         *
         * @param reason the end of a sentence that begins with the operator
         */
        record Refusal(String reason, String next) {}

        private static final Refusal UNKNOWN = new Refusal(
                "is newer than Kiln, or not in TensorFlow Lite's schema",
                "Convert the model with TensorFlow 2.20, or so that it does not need the operator");

        private static final Map<Refusal, List<BuiltinOperator>> BY_REASON = byReason();

        /** What custom operators are whose names begin like this. */
        private static final Map<String, Refusal> CUSTOM = new TreeMap<>(Map.of(
                "Flex",
                new Refusal(
                        "an operator of TensorFlow itself, which no microcontroller runs",
                        "Convert without SELECT_TF_OPS, or give a C function"),
                "Lce",
                new Refusal(
                        "a layer of binary weights made by Larq",
                        "Train with int8 quantization in its place, or give a C function"),
                "edgetpu-custom-op",
                new Refusal("a program for an Edge TPU", "Give the model that went into the Edge TPU compiler"),
                "aeq.",
                new Refusal(
                        "an operator of a quantizer that rotates weights",
                        "Quantize without rotation, or give a C function"),
                "Mfcc",
                new Refusal("signal processing", "Describe it for kiln.preprocess, or give a C function"),
                "AudioSpectrogram",
                new Refusal("signal processing", "Describe it for kiln.preprocess, or give a C function")));

        private UnsupportedOperators() {}

        /** The reason for an operator, by its code. */
        static Refusal of(int code) {
            return BY_REASON.entrySet().stream()
                    .filter(entry -> entry.getValue().stream().anyMatch(operator -> operator.code() == code))
                    .map(Map.Entry::getKey)
                    .findFirst()
                    .orElse(UNKNOWN);
        }

        /** What a custom operator is, by its name in the file; empty for one of the user's. */
        static Optional<Refusal> custom(String code) {
            return CUSTOM.entrySet().stream()
                    .filter(entry -> code.startsWith(entry.getKey()))
                    .map(Map.Entry::getValue)
                    .findFirst();
        }

        /** The operators that are refused, by reason, for the documentation. */
        static Map<Refusal, List<BuiltinOperator>> byReasons() {
            return BY_REASON;
        }

        private static Map<Refusal, List<BuiltinOperator>> byReason() {
            Map<Refusal, List<BuiltinOperator>> all = new LinkedHashMap<>();
            put(
                    all,
                    "is a recurrent layer that TensorFlow Lite Micro lacks",
                    "Convert a Keras LSTM layer, which becomes UNIDIRECTIONAL_SEQUENCE_LSTM, one for each direction, or"
                            + " set unroll=True in the layer",
                    "LSTM RNN UNIDIRECTIONAL_SEQUENCE_RNN BIDIRECTIONAL_SEQUENCE_RNN BIDIRECTIONAL_SEQUENCE_LSTM");
            put(
                    all,
                    "has a result whose size is known only when the model runs",
                    "Select by SELECT_V2, which keeps sizes, or compute it in the program behind the model",
                    "WHERE UNIQUE SEGMENT_SUM RANGE");
            put(
                    all,
                    "selects boxes",
                    "Export with TFLite_Detection_PostProcess, or select boxes in the program behind the model",
                    "NON_MAX_SUPPRESSION_V4 NON_MAX_SUPPRESSION_V5");
            put(
                    all,
                    "looks up or hashes texts and keys",
                    "Convert texts to numbers before the model; use EMBEDDING_LOOKUP or GATHER for numbers",
                    """
                    HASHTABLE HASHTABLE_FIND HASHTABLE_IMPORT HASHTABLE_SIZE HASHTABLE_LOOKUP LSH_PROJECTION SKIP_GRAM
                    EMBEDDING_LOOKUP_SPARSE
                    """);
            put(
                    all,
                    "computes random numbers",
                    "Make the random numbers an input, or export for inference",
                    "RANDOM_STANDARD_NORMAL RANDOM_UNIFORM MULTINOMIAL STABLEHLO_RNG_BIT_GENERATOR");
            put(
                    all,
                    "computes complex numbers",
                    "Compute spectra by the custom operators SignalRfft and SignalIrfft, or by signal processing before"
                            + " the model",
                    "RFFT2D IMAG REAL COMPLEX_ABS");
            putFunctions(all);
            putStablehlo(all);
            return Collections.unmodifiableMap(all);
        }

        private static void putFunctions(Map<Refusal, List<BuiltinOperator>> all) {
            put(
                    all,
                    "slides over volumes",
                    "Export the layer as CONV_2D of each plane and a sum, or the model as ONNX, whose Conv takes"
                            + " volumes",
                    "CONV_3D CONV_3D_TRANSPOSE");
            put(
                    all,
                    "divides by sums over neighbouring channels",
                    "Train with batch normalization in its place, or export the model as ONNX, whose LRN is computed",
                    "LOCAL_RESPONSE_NORMALIZATION");
            put(
                    all,
                    "simulates quantization during training",
                    "Convert with a quantization of int8, which removes it, or leave it out of the exported graph",
                    "FAKE_QUANT");
            put(
                    all,
                    "sums by computed groups",
                    "Multiply by a matrix of zeros and ones in its place",
                    "UNSORTED_SEGMENT_PROD UNSORTED_SEGMENT_MAX UNSORTED_SEGMENT_SUM UNSORTED_SEGMENT_MIN");
            put(
                    all,
                    "makes tensors from positions",
                    "Add or multiply by a constant of zeros and ones, or compare with a constant row of numbers by"
                            + " EQUAL",
                    "ONE_HOT SPARSE_TO_DENSE MATRIX_DIAG MATRIX_SET_DIAG");
            put(
                    all,
                    "is reserved in TensorFlow Lite's schema, and no converter writes it",
                    "Convert the model again",
                    "CALL DELEGATE CONCAT_EMBEDDINGS PLACEHOLDER_FOR_GREATER_OP_CODES");
        }

        private static void putStablehlo(Map<Refusal, List<BuiltinOperator>> all) {
            put(
                    all,
                    "is an operator of StableHLO that TensorFlow Lite cannot run either",
                    "Convert to TensorFlow Lite's own operators, as converters do unless they are told to keep"
                            + " StableHLO",
                    """
                    STABLEHLO_LOGISTIC STABLEHLO_DIVIDE STABLEHLO_RESHAPE STABLEHLO_CLAMP STABLEHLO_CONCATENATE
                    STABLEHLO_BROADCAST_IN_DIM STABLEHLO_CONVOLUTION STABLEHLO_SLICE STABLEHLO_CUSTOM_CALL STABLEHLO_REDUCE
                    STABLEHLO_ABS STABLEHLO_COSINE STABLEHLO_EXPONENTIAL STABLEHLO_FLOOR STABLEHLO_LOG STABLEHLO_NEGATE
                    STABLEHLO_OR STABLEHLO_POWER STABLEHLO_REMAINDER STABLEHLO_RSQRT STABLEHLO_SELECT STABLEHLO_SUBTRACT
                    STABLEHLO_TANH STABLEHLO_COMPARE STABLEHLO_CONVERT STABLEHLO_DYNAMIC_SLICE STABLEHLO_DYNAMIC_UPDATE_SLICE
                    STABLEHLO_IOTA STABLEHLO_DOT_GENERAL STABLEHLO_SORT STABLEHLO_WHILE STABLEHLO_TRANSPOSE STABLEHLO_CBRT
                    """);
        }

        private static void put(Map<Refusal, List<BuiltinOperator>> all, String reason, String next, String names) {
            all.put(
                    new Refusal(reason, next),
                    Arrays.stream(names.strip().split("\\s+", -1))
                            .map(BuiltinOperator::valueOf)
                            .toList());
        }
    }
}
