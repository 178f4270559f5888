// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import io.kiln.transform.Pipeline;
import java.util.Optional;
import org.junit.jupiter.api.Test;
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
                "onnx.avg_pool2d(reshape(cast(%a, dtype=\"int8\"), newshape=[1, 2048, 2048, 1]), 0.1f, 0, 0.1f, 0,"
                        + " pool_size=[2047, 2047], strides=[1, 1], dilation=[1, 1], padding=[1023, 1023, 1023, 1023],"
                        + " order=\"columns\", form=\"int8\") | onnx.avg_pool2d",
                "tfl.signal_rfft(broadcast_to(cast(1f, dtype=\"int16\"), shape=[1000, 4]), fft_length=32768)"
                        + " | tfl.signal_rfft",
                "tfl.signal_filter_bank(broadcast_to(cast(1f, dtype=\"uint32\"), shape=[32767]),"
                        + " broadcast_to(cast(1f, dtype=\"int16\"), shape=[32767]),"
                        + " broadcast_to(cast(1f, dtype=\"int16\"), shape=[32767]),"
                        + " broadcast_to(cast(0f, dtype=\"int16\"), shape=[1000001]),"
                        + " broadcast_to(cast(0f, dtype=\"int16\"), shape=[1000001]),"
                        + " broadcast_to(cast(32767f, dtype=\"int16\"), shape=[1000001]), num_channels=1000000)"
                        + " | tfl.signal_filter_bank",
                "take(take(%a, broadcast_to(cast(1f, dtype=\"int32\"), shape=[8000]), axis=0, mode=\"clip\"),"
                        + " broadcast_to(cast(1f, dtype=\"int32\"), shape=[8000]), axis=1, mode=\"clip\") | take",
                "sum(broadcast_to(1f, shape=[8192, 4096])) | sum",
            })
    void workIsLimited(String call, String operator) {
        assertThat(failure(call))
                .hasMessageContainingAll(
                        "m.relay:", operator, "computing the model's constants takes more than 805,306,368 steps");
    }

    @Test
    void bytesOfAResultAreThoseWhileItIsComputed() {
        assertThat(failure(
                        "tfl.signal_rfft(broadcast_to(cast(1f, dtype=\"int16\"), shape=[2400, 4]), fft_length=32768)"))
                .hasMessageContaining(
                        "computing the constant Tensor[(2400, 32770), int16] takes more than 268,435,456 bytes");
    }

    @Test
    void sumsOfIntegersAreLimitedLikeAllOthers() {
        String columns = "reshape(cast(%a, dtype=\"int32\"), newshape=[4194304, 1])";
        String rows = "reshape(broadcast_to(cast(1f, dtype=\"int32\"), shape=[64]), newshape=[1, 64])";
        assertThat(failure("add(" + columns + ", " + rows + ")"))
                .hasMessageContaining(
                        "computing the constant Tensor[(4194304, 64), int32] takes more than 268,435,456 bytes");
    }

    private static KilnException failure(String call) {
        String text = "def @main(%x: Tensor[(1), float32]) {\n  %a = broadcast_to(1f, shape=[2048, 2048]);\n  %b = "
                + "cast(" + call + ", dtype=\"float32\");\n  %c = add(%b, %b);\n  %d = sum(%c);\n  add(%x, %d)\n}\n";
        return catchThrowableOfType(
                KilnException.class,
                () -> Pipeline.standard()
                        .run(RelayFrontend.read(
                                Bytes.ofText(text), "m.relay", Optional.empty(), "m.params", "default")));
    }
}
