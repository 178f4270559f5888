// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import io.kiln.transform.Pipeline;
import java.util.Optional;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Small texts whose constants take long to compute are refused before they are computed, while they are read or in a pass. */
class FoldingLimitsTest {
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "nn.dense(%a, %a, units=2048) | nn.dense",
                "nn.max_pool2d(reshape(%a, newshape=[1, 1, 2048, 2048]), pool_size=[2047, 2047], strides=[1, 1],"
                        + " padding=[1023, 1023, 1023, 1023]) | nn.max_pool2d",
                "nn.conv2d(reshape(%a, newshape=[1, 4, 1024, 1024]), reshape(%a, newshape=[4, 4, 512, 512]),"
                        + " kernel_size=[512, 512], channels=4, padding=[256, 256, 256, 256]) | nn.conv2d",
            })
    void workIsLimited(String call, String operator) {
        String text = "def @main(%x: Tensor[(1), float32]) {\n  %a = broadcast_to(1f, shape=[2048, 2048]);\n  %b = "
                + call + ";\n  %c = add(%b, %b);\n  %d = sum(%c);\n  add(%x, %d)\n}\n";
        KilnException e = catchThrowableOfType(
                KilnException.class,
                () -> Pipeline.standard()
                        .run(RelayFrontend.read(
                                Bytes.ofText(text), "m.relay", Optional.empty(), "m.params", "default")));
        assertThat(e)
                .hasMessageContainingAll(
                        "m.relay:", operator, "computing the model's constants takes more than 805,306,368 steps");
    }
}
