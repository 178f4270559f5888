// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.relay;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.artifact.NamedTensor;
import io.kiln.artifact.ParameterFile;
import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.base.KilnException;
import io.kiln.base.Problem;
import io.kiln.ir.Function;
import io.kiln.transform.FuseOperators;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Operators on filter banks in Relay text that was changed by hand. */
class FilterBankTextTest {
    private static final String BANK = """
        def @main(%x: Tensor[(5), uint32], %w: Tensor[(3), int16], %f: Tensor[(3), int16], %s: Tensor[(3), int16], %n: Tensor[(3), int16]) {
          %0 = tfl.signal_filter_bank(%x, %w, %w, %f, %s, %n, num_channels=2);
          %0
        }
        """;

    private static List<Problem> problems(String text, short[] frequencies, short[] starts, short[] widths) {
        try {
            read(text, frequencies, starts, widths);
            return List.of();
        } catch (KilnException e) {
            return e.problems();
        }
    }

    private static Function read(String text, short[] frequencies, short[] starts, short[] widths) {
        Bytes params = ParameterFile.write(List.of(
                tensor("w", (short) 1, (short) 2, (short) 3),
                tensor("f", frequencies),
                tensor("s", starts),
                tensor("n", widths)));
        return RelayFrontend.read(Bytes.ofText(text), "m.relay", Optional.of(params), "m.params", "default");
    }

    private static NamedTensor tensor(String name, short... values) {
        ByteBuffer data = ByteBuffer.allocate(2 * values.length).order(ByteOrder.LITTLE_ENDIAN);
        for (short value : values) {
            data.putShort(value);
        }
        return new NamedTensor(name, DType.INT16, List.of(values.length), Bytes.wrap(data.array()));
    }

    @Test
    void channelsOutsideOfTheDataAreRefused() {
        short[] inside = {0, 1, 2};
        short[] ones = {1, 1, 1};
        assertThat(problems(BANK, inside, inside, ones)).isEmpty();
        assertThat(problems(BANK, new short[] {0, 5, -1}, inside, ones))
                .extracting(Problem::text)
                .singleElement()
                .asString()
                .contains("width 1) takes energies outside of the 5 of the data, as do 1 more entries");
        assertThat(problems(BANK, inside, new short[] {0, 3, 2}, new short[] {1, 1, -1}))
                .extracting(Problem::text)
                .hasSize(2);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "num_channels=2 | num_channels=0 | attribute num_channels of tfl.signal_filter_bank is wrong",
                "num_channels=2 | num_channels=3 | 3 frequency starts do not fit 3 channels",
                "(5), uint32 | (5), int32 | energies must be uint32, not int32",
                "(5), uint32 | (1, 5), uint32 | energies must have rank 1"
            })
    void whatIsWrongIsTold(String from, String to, String message) {
        short[] inside = {0, 1, 2};
        assertThat(problems(BANK.replace(from, to), inside, inside, inside))
                .anySatisfy(p -> assertThat(p.text()).contains(message));
    }

    @Test
    void limitsBehindALogarithmAreAnOperatorOfTheirOwn() {
        String text = """
            def @main(%x: Tensor[(5), uint32]) {
              %0 = tfl.signal_filter_bank_log(%x, output_scale=1600, input_correction_bits=3);
              clip(%0, a_min=0f, a_max=6f)
            }
            """;
        Function function = RelayFrontend.read(Bytes.ofText(text), "m.relay", Optional.empty(), "m.params", "default");

        assertThat(new FuseOperators(256).run(function).groups()).hasSize(2);
    }
}
