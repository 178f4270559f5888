// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.convolution;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How products are spread over fused and separate instructions, and what fits the registers. */
class FpuProductsTest {
    private static final int PRODUCTS = 48;
    /** Behind the registers of 16 sums, 12 weights and 3 inputs. */
    private static final int FREE = 31;

    /** The instructions of a step of three taps for four pixels and four channels. */
    private static List<String> lines(int unfused) {
        String text = new FpuBlocks(4, 4, 3, unfused).kernel(FpuLimits.NONE).definition();
        return text.lines()
                .map(line -> line.strip().replace("\"", "").replace("\\n\\t", ""))
                .dropWhile(line -> !line.equals("5:"))
                .takeWhile(line -> !line.startsWith("subs"))
                .toList();
    }

    private static long count(List<String> lines, String instruction) {
        return lines.stream().filter(line -> line.startsWith(instruction)).count();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 6, 10, 14, 18, 25, 50, 75, 100})
    void theShareIsMultipliedAndAddedApartAndNoAdditionWaits(int unfused) {
        List<String> lines = lines(unfused);
        int apart = Math.round(PRODUCTS * unfused / 100f);
        assertThat(count(lines, "vmul")).isEqualTo(apart);
        assertThat(count(lines, "vadd")).isEqualTo(apart);
        assertThat(count(lines, "vfma")).isEqualTo(PRODUCTS - apart);
        for (int i = 1; i < lines.size(); i++) {
            String line = lines.get(i);
            String before = lines.get(i - 1);
            if (line.startsWith("vadd") && before.startsWith("vmul")) {
                String product = line.substring(line.lastIndexOf(' ') + 1);
                assertThat(before).doesNotStartWith("vmul.f32 " + product + ",");
            }
        }
    }

    @Test
    void upToHalfOfTheProductsNeedOneRegister() {
        assertThat(lines(50)).noneMatch(line -> line.contains("s" + (FREE + 1)));
        assertThat(lines(75)).anyMatch(line -> line.contains("s" + (FREE + 1)));
    }

    @Test
    void inputsAreLoadedPixelByPixelWhereNotAllFit() {
        FpuBlocks two = new FpuBlocks(4, 4, 2, 0);
        FpuBlocks three = new FpuBlocks(4, 4, 3, 18);
        assertThat(two.inputs()).isEqualTo(8);
        assertThat(three.inputs()).isEqualTo(3);
        assertThat(two.fit()).isTrue();
        assertThat(three.fit()).isTrue();
        assertThat(new FpuBlocks(4, 4, 3, 100).fit()).isFalse();
        assertThat(new FpuBlocks(4, 8, 2, 0).fit()).isFalse();
    }

    @Test
    void weightsOfASinglePixelAreLoadedInEqualParts() {
        assertThat(new FpuBlocks(1, 16, 3, 14).weights()).isEqualTo(12);
        assertThat(new FpuBlocks(1, 16, 4, 0).weights()).isEqualTo(11);
        assertThat(new FpuBlocks(1, 8, 2, 0).weights()).isEqualTo(16);
    }
}
