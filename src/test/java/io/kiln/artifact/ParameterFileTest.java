// SPDX-License-Identifier: Apache-2.0
package io.kiln.artifact;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.base.KilnException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ParameterFileTest {
    private static final List<DType> DTYPES = List.of(DType.values());

    @Test
    void anEmptyListIsItsHeader() {
        assertThat(hex(ParameterFile.write(List.of())))
                .isEqualTo("b79c04054f8de5f7" + "0000000000000000" + "0000000000000000" + "0000000000000000");
    }

    @Test
    void everyFieldIsWhereTvmPutsIt() {
        NamedTensor tensor = new NamedTensor("p0", DType.INT16, List.of(2, 1), Bytes.wrap(new byte[] {1, 2, 3, 4}));

        assertThat(hex(ParameterFile.write(List.of(tensor))))
                .isEqualTo(
                        "b79c04054f8de5f7" // list magic
                                + "0000000000000000" // reserved
                                + "0100000000000000" // names
                                + "0200000000000000" + "7030" // "p0"
                                + "0100000000000000" // arrays
                                + "3fa1b496f0405edd" // array magic
                                + "0000000000000000" // reserved
                                + "01000000" + "00000000" // CPU 0
                                + "02000000" // rank
                                + "00" + "10" + "0100" // int, 16 bits, 1 lane
                                + "0200000000000000" + "0100000000000000" // shape
                                + "0400000000000000" + "01020304"); // bytes
    }

    @Test
    void whatIsWrittenReadsBackSortedByName() {
        Random random = new Random(5);
        for (int round = 0; round < 200; round++) {
            List<NamedTensor> tensors = IntStream.range(0, random.nextInt(6))
                    .mapToObj(i -> randomTensor(random, i))
                    .toList();

            assertThat(ParameterFile.read(ParameterFile.write(tensors), "x.params"))
                    .isEqualTo(tensors.stream()
                            .sorted(Comparator.comparing(NamedTensor::name))
                            .toList());
        }
    }

    @Test
    void damagedFilesAreRefusedWithAReason() {
        Random random = new Random(6);
        byte[] good = ParameterFile.write(List.of(randomTensor(random, 0), randomTensor(random, 1)))
                .toArray();
        for (int length = 0; length < good.length; length++) {
            byte[] cut = Arrays.copyOf(good, length);
            assertThatThrownBy(() -> ParameterFile.read(Bytes.wrap(cut), "cut.params"))
                    .isInstanceOf(KilnException.class)
                    .hasMessageStartingWith("cut.params: ");
        }
        for (int round = 0; round < 2000; round++) {
            byte[] bad = good.clone();
            bad[random.nextInt(bad.length)] = (byte) random.nextInt();
            try {
                ParameterFile.read(Bytes.wrap(bad), "bad.params");
            } catch (KilnException e) {
                assertThat(e).hasMessageStartingWith("bad.params: ");
            }
        }
    }

    @Test
    void absurdCountsDoNotAllocate() {
        byte[] bad = ParameterFile.write(List.of()).toArray();
        ByteBuffer.wrap(bad).order(ByteOrder.LITTLE_ENDIAN).putLong(16, Long.MAX_VALUE);

        assertThatThrownBy(() -> ParameterFile.read(Bytes.wrap(bad), "x"))
                .hasMessageContaining("cannot hold 9223372036854775807 names");
    }

    @Test
    void twoParametersOfOneNameAreRefused() {
        NamedTensor tensor = new NamedTensor("p", DType.INT8, List.of(), Bytes.wrap(new byte[1]));
        assertThatThrownBy(() -> ParameterFile.write(List.of(tensor, tensor)))
                .hasMessageContaining("two parameters are named `p`");
    }

    private static NamedTensor randomTensor(Random random, int index) {
        DType dtype = DTYPES.get(random.nextInt(DTYPES.size()));
        List<Integer> shape = new ArrayList<>();
        int elements = 1;
        for (int i = random.nextInt(4); i > 0; i--) {
            int dim = random.nextInt(4);
            shape.add(dim);
            elements *= dim;
        }
        byte[] data = new byte[elements * dtype.bytes()];
        random.nextBytes(data);
        return new NamedTensor((char) ('a' + random.nextInt(20)) + "_é" + index, dtype, shape, Bytes.wrap(data));
    }

    private static String hex(Bytes bytes) {
        return HexFormat.of().formatHex(bytes.toArray());
    }
}
