// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.single;

import static java.util.Map.entry;

import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;
import org.bytedeco.javacpp.Loader;
import org.bytedeco.javacpp.LongPointer;
import org.bytedeco.javacpp.Pointer;
import org.bytedeco.tensorflowlite.BuiltinOpResolverWithoutDefaultDelegates;
import org.bytedeco.tensorflowlite.Find_builtin_op_Pointer_int_int;
import org.bytedeco.tensorflowlite.MutableOpResolver;
import org.bytedeco.tensorflowlite.TfLiteRegistration;
import org.bytedeco.tensorflowlite.global.tensorflowlite;
import org.tensorflow.lite.schema.BuiltinOperator;

/**
 * TensorFlow Lite's operators with the reference kernel wherever there is one, as its {@code BuiltinRefOpResolver} has them. The Java
 * binding leaves that class out, but the library exports the functions that register the kernels; they are called by their symbols.
 */
final class ReferenceKernels {
    private static final int NEWEST_VERSION = 20;

    /** Builtin operators whose registration function is not named like the operator. */
    private static final Map<Integer, String> SPECIAL = Map.ofEntries(
            entry(BuiltinOperator.AVERAGE_POOL_2D, "AVERAGE_POOL"),
            entry(BuiltinOperator.MAX_POOL_2D, "MAX_POOL"),
            entry(BuiltinOperator.L2_POOL_2D, "L2_POOL"),
            entry(BuiltinOperator.CONV_2D, "CONVOLUTION"),
            entry(BuiltinOperator.DEPTHWISE_CONV_2D, "DEPTHWISE_CONVOLUTION"),
            entry(BuiltinOperator.L2_NORMALIZATION, "L2NORM"),
            entry(BuiltinOperator.LOCAL_RESPONSE_NORMALIZATION, "LOCAL_RESPONSE_NORM"),
            entry(BuiltinOperator.TRANSPOSE_CONV, "TRANSPOSECONV"));

    /** What the reference kernel of SUM answers for int8 and int16 does not depend on its input. */
    private static final int WITHOUT = BuiltinOperator.SUM;

    private static final Map<Integer, TfLiteRegistration> REGISTRATIONS = registrations();

    private ReferenceKernels() {}

    /** A resolver; where an operator has one kernel only, or no reference kernel that works, it is the other one. */
    static MutableOpResolver resolver() {
        MutableOpResolver resolver = new BuiltinOpResolverWithoutDefaultDelegates();
        REGISTRATIONS.forEach((code, kernel) -> resolver.AddBuiltin(code, kernel, 1, NEWEST_VERSION));
        return resolver;
    }

    private static Map<Integer, TfLiteRegistration> registrations() {
        Loader.loadGlobal(Loader.load(tensorflowlite.class));
        Map<Integer, TfLiteRegistration> registrations = new TreeMap<>();
        for (int code = 0; code < BuiltinOperator.names.length; code++) {
            String symbol = "Register_" + SPECIAL.getOrDefault(code, BuiltinOperator.name(code)) + "_REF";
            Pointer function = Loader.addressof("_ZN6tflite3ops7builtin" + symbol.length() + symbol + "Ev");
            if (code != WITHOUT && function != null && !function.isNull()) {
                registrations.put(code, registration(function));
            }
        }
        return Collections.unmodifiableMap(registrations);
    }

    /**
     * Calls {@code TfLiteRegistration* f()}. The binding's type for functions that find operators is the nearest to it; the arguments it
     * passes besides stay unread in registers. Its objects hold the function's address in their first word.
     */
    private static TfLiteRegistration registration(Pointer function) {
        try (LongPointer address = new LongPointer(1);
                Find_builtin_op_Pointer_int_int call =
                        new Find_builtin_op_Pointer_int_int(address.put(function.address()))) {
            return call.call(null, 0, 0);
        }
    }
}
