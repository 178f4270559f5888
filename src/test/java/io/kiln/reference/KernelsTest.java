// SPDX-License-Identifier: Apache-2.0
package io.kiln.reference;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.ir.op.OperatorClasses;
import io.kiln.reference.Interpreter.Kernels;
import java.util.Set;
import org.junit.jupiter.api.Test;

final class KernelsTest {
    @Test
    void everyOperatorHasAKernel() {
        assertThat(Set.<Class<?>>copyOf(Kernels.operators())).isEqualTo(OperatorClasses.all());
    }
}
