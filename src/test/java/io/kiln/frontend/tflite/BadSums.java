// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.kiln.base.KilnException;
import org.tensorflow.lite.schema.BuiltinOperator;

/** A model of sums with something wrong in it. */
abstract class BadSums {
    final TfliteModelBuilder model = new TfliteModelBuilder();

    static TensorSpec value(String name) {
        return TensorSpec.int8(name, 0.5f, 3, 1, 4);
    }

    final void add(int lhs, int rhs, int out) {
        model.operator(BuiltinOperator.ADD, 2, Options.add(Options.NO_ACTIVATION), new int[] {lhs, rhs}, out);
    }

    final void problems(String... expected) {
        KilnException e = catchThrowableOfType(KilnException.class, model::read);
        assertThat(e).isNotNull();
        assertThat(e.getMessage()).contains(expected).contains("test.tflite");
    }
}
