// SPDX-License-Identifier: Apache-2.0
package io.kiln.compile;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
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
    void aThousandOperatorsTakeTwiceTheWorkOfFiveHundred() throws IOException {
        // Classes and tables that are loaded once are no part of the growth.
        allocated(20);
        long half = allocated(500);
        long whole = allocated(1000);

        assertThat(half).isPositive();
        assertThat((double) whole / half).isLessThan(2.3);
    }

    private long allocated(int operators) throws IOException {
        Path model = folder.resolve("chain.tflite");
        Files.write(model, ChainModel.write(operators));
        long before = THREADS.getCurrentThreadAllocatedBytes();
        CompiledModel compiled =
                ModelCompiler.compile(CompileRequest.builder(model, "c -keys=arm_cpu,cpu -mcpu=cortex-m4")
                        .name("chain")
                        .build());
        long after = THREADS.getCurrentThreadAllocatedBytes();
        assertThat(compiled.module().operators()).hasSize(operators);
        return after - before;
    }
}
