// SPDX-License-Identifier: Apache-2.0
package io.kiln.compile;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.kiln.artifact.ModelMetadata.PlannedBuffer;
import io.kiln.flow.state.LibraryStore;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.IntFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Compiling takes work in proportion to the number of operators. Work is counted in bytes that the compiler allocates, which no busy
 * machine changes.
 */
class CompileGrowthTest {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    @TempDir
    Path folder;

    @Test
    void twiceTheOperatorsTakeTwiceTheWork() throws IOException {
        checkGrowth(ChainModel::write);
    }

    @Test
    void anUnrolledNetworkOfTwiceTheOperatorsTakesTwiceTheWork() throws IOException {
        checkGrowth(ChainModel::recurrent);
    }

    /** All values of a wide model lie side by side, each pair of them; nothing may grow with the third power. */
    @Test
    void aModelOfTwiceTheWidthTakesFourTimesTheWork() throws IOException {
        measured(ChainModel::wide, 20);
        Cost half = measured(ChainModel::wide, 150);
        Cost whole = measured(ChainModel::wide, 300);
        assertThat((double) whole.allocated() / half.allocated()).isLessThan(4);
        assertThat((double) whole.stored() / half.stored()).isLessThan(2.2);
    }

    private void checkGrowth(IntFunction<byte[]> model) throws IOException {
        // Classes and tables that are loaded once are no part of the growth.
        measured(model, 20);
        Cost half = measured(model, 200);
        Cost whole = measured(model, 400);

        assertThat(half.allocated()).isPositive();
        assertThat((double) whole.allocated() / half.allocated()).isLessThan(2.3);
        assertThat(half.stored()).isPositive();
        assertThat((double) whole.stored() / half.stored()).isLessThan(2.2);
        assertThat((double) whole.overlaps() / half.overlaps()).isLessThan(2.2);
    }

    /**
     * What a model costs.
     *
     * @param allocated bytes allocated by the compiler, and by what writes and reads its answer
     * @param stored bytes of the file that keeps the library between goals
     * @param overlaps names in it of buffers that share bytes
     */
    private record Cost(long allocated, long stored, long overlaps) {}

    private Cost measured(IntFunction<byte[]> made, int operators) throws IOException {
        Path model = folder.resolve("chain.tflite");
        Files.write(model, made.apply(operators));
        Path index = folder.resolve(operators + ".json");
        LibraryStore store = new LibraryStore(index, folder);
        long before = THREADS.getCurrentThreadAllocatedBytes();
        CompiledModel compiled = ModelCompiler.compile(RequestDraft.of(model, "c -keys=arm_cpu,cpu -mcpu=cortex-m4")
                .name("chain")
                .build());
        store.write(List.of(compiled.library()));
        List<PlannedBuffer> buffers = store.metadata().get(0).plan().buffers();
        long after = THREADS.getCurrentThreadAllocatedBytes();
        assertThat(compiled.module().operators()).hasSize(operators);
        return new Cost(
                after - before,
                Files.size(index),
                buffers.stream().mapToInt(buffer -> buffer.overlaps().size()).sum());
    }
}
