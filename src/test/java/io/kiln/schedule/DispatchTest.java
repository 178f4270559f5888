// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.ir.op.OperatorClasses;
import java.util.Set;
import org.junit.jupiter.api.Test;

final class DispatchTest {
    @Test
    void everyOperatorHasALoweringOrIsALayer() {
        assertThat(Set.<Class<?>>copyOf(Dispatch.operators())).isEqualTo(OperatorClasses.otherThanLayers());
    }
}
