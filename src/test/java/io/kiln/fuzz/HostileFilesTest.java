// SPDX-License-Identifier: Apache-2.0
package io.kiln.fuzz;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Bytes;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Files made to hurt: cut short, nested without end, with offsets and counts that lie. */
class HostileFilesTest {
    private static final int MOST_CUTS = 200;
    private static final int MANY = 60_000;

    /** Numbers of fields in the schema: of the model's subgraphs, and of a subgraph's tensors and operators. */
    private static final int SUBGRAPHS = 2;

    private static final int TENSORS = 0;
    private static final int OPERATORS = 3;

    @TempDir
    private Path folder;

    @ParameterizedTest
    @EnumSource
    void everyCutGivesAnAnswerOrAMessage(Reader reader) {
        byte[] seed = reader.seeds().get(0).toArray();
        for (int length = 0; length < seed.length; length += 1 + seed.length / MOST_CUTS) {
            ReaderProperty.holds(reader, Bytes.wrap(Arrays.copyOf(seed, length)), folder);
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "RELAY | def @main(%x: Tensor[(1, 8), int8]) { | (",
                "RELAY | def @main(%x: Tensor[(1, 8), int8]) { | nn.relu(",
                "RELAY | def @main(%x: Tensor[(1, 8), int8]) { | let %0 = {",
                "RELAY | def @main(%x: Tensor[(1, 8), int8]) { nn.conv2d(%x, padding= | [",
                "RELAY | def @main(%x: | (",
                "RELAY | | /*",
                "METADATA | {\"version\": | [",
                "METADATA | | {\"a\":",
                "BOARD | schema: | [",
                "BOARD | schema: | {a: ",
                "BOARD | | '- '"
            })
    void whatIsNestedWithoutEndIsRefused(Reader reader, String start, String nested) {
        Bytes file = Bytes.ofText((start == null ? "" : start) + nested.repeat(200_000));
        assertThat(ReaderProperty.holds(reader, file, folder)).isFalse();
    }

    /** Every word as an offset or a count: zero, itself, backwards, onto other tables and vectors, far outside. */
    @Test
    void offsetsAndCountsThatLieGiveAnAnswerOrAMessage() {
        byte[] seed = Reader.TFLITE.seeds().get(0).toArray();
        for (int at = 0; at + 4 <= seed.length; at += 4) {
            for (int value : new int[] {0, -4, 4, 16, 64, seed.length - at - 4, -at, 1 << 20, 1 << 30, -1, 1 << 31}) {
                byte[] file = seed.clone();
                ByteBuffer.wrap(file).order(ByteOrder.LITTLE_ENDIAN).putInt(at, value);
                ReaderProperty.holds(Reader.TFLITE, Bytes.wrap(file), folder);
            }
        }
    }

    /**
     * A few bytes can name the same table as often as the file has words, each time with all its own vectors. Offsets only lead forwards: the
     * table is that of a second copy behind the vector.
     */
    @ParameterizedTest
    @ValueSource(ints = {TENSORS, OPERATORS})
    void aVectorOfOneTableOverAndOverIsReadSoon(int number) {
        byte[] seed = Reader.TFLITE.seeds().get(0).toArray();
        ByteBuffer file = ByteBuffer.allocate(2 * seed.length + 4 + 4 * MANY).order(ByteOrder.LITTLE_ENDIAN);
        file.put(seed);
        int graph = table(file, field(file, file.getInt(0), SUBGRAPHS));
        int secondCopy = seed.length + 4 + 4 * MANY;
        int table = secondCopy + table(file, field(file, graph, number));
        int slot = slot(file, graph, number);
        file.putInt(slot, seed.length - slot).putInt(MANY);
        for (int i = 0; i < MANY; i++) {
            file.putInt(table - file.position());
        }
        file.put(seed);
        ReaderProperty.holds(Reader.TFLITE, Bytes.wrap(file.array()), folder);
    }

    /** The first table of a vector. */
    private static int table(ByteBuffer file, int vector) {
        return vector + 4 + file.getInt(vector + 4);
    }

    /** Where the vector of a table's field lies. */
    private static int field(ByteBuffer file, int table, int number) {
        int slot = slot(file, table, number);
        return slot + file.getInt(slot);
    }

    /** Where a table has the offset of a field. */
    private static int slot(ByteBuffer file, int table, int number) {
        return table + file.getShort(table - file.getInt(table) + 4 + 2 * number);
    }
}
