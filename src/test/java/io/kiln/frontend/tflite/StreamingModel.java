// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite;

import io.kiln.ir.Constant;
import org.tensorflow.lite.schema.BuiltinOperator;
import org.tensorflow.lite.schema.BuiltinOptions;
import org.tensorflow.lite.schema.TensorType;

/** A file with a model that remembers. */
public final class StreamingModel {
    private StreamingModel() {}

    /**
     * A sum of two floats over all runs beside the one before.
     *
     * @param first what CALL_ONCE lets its first element begin with; the other begins with 0
     */
    public static TfliteModelBuilder sums(float first) {
        TfliteModelBuilder m = new TfliteModelBuilder();
        int x = m.tensor(TensorSpec.float32("x", 2));
        int once = m.nextSubgraph();
        int initial = m.tensor(TensorSpec.float32("initial", 2)
                .withData(Constant.vector(first, 0f).data().toArray()));
        m.operator(BuiltinOperator.ASSIGN_VARIABLE, 1, Options.none(), new int[] {handle(m), initial});
        m.backToMain();
        Options options = Options.table(BuiltinOptions.CallOnceOptions, Options.Field.int32(0, once));
        m.operator(BuiltinOperator.CALL_ONCE, 1, options, new int[0]);
        int total = handle(m);
        int before = m.tensor(TensorSpec.float32("before", 2));
        int sum = m.tensor(TensorSpec.float32("sum", 2));
        m.operator(BuiltinOperator.READ_VARIABLE, 1, Options.none(), new int[] {total}, before);
        m.operator(BuiltinOperator.ADD, 1, Options.add(Options.NO_ACTIVATION), new int[] {before, x}, sum);
        m.operator(BuiltinOperator.ASSIGN_VARIABLE, 1, Options.none(), new int[] {total, sum});
        return m.inputs(x).outputs(sum, before);
    }

    private static int handle(TfliteModelBuilder m) {
        int handle = m.tensor(TensorSpec.of("handle", TensorType.RESOURCE));
        Options options = Options.table(
                BuiltinOptions.VarHandleOptions, Options.Field.text(0, ""), Options.Field.text(1, "total"));
        m.operator(BuiltinOperator.VAR_HANDLE, 1, options, new int[0], handle);
        return handle;
    }
}
