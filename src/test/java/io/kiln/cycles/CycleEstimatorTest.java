// SPDX-License-Identifier: Apache-2.0
package io.kiln.cycles;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.KilnException;
import io.kiln.base.elf.ElfFile;
import io.kiln.cycles.BlockSink.ExecutedBlock;
import io.kiln.cycles.CycleEstimator.CycleEstimate;
import io.kiln.cycles.core.CoreTables;
import io.kiln.cycles.core.CycleRange;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class CycleEstimatorTest {
    private static final int ARM = 40;
    private static final int RISCV = 243;
    private static final long BLOCK = 0x1000;

    /** Blocks at addresses of their own, in an image that holds nothing else. */
    private static final class Recorded {
        final List<ExecutedBlock> blocks = new ArrayList<>();
        final List<ElfFile.Section> sections = new ArrayList<>();
        final ByteBuffer code = ByteBuffer.allocate(1 << 20).order(ByteOrder.LITTLE_ENDIAN);

        void add(int instructions, long count, long taken, String hex) {
            byte[] bytes = HexFormat.of().parseHex(hex);
            long address = BLOCK * (sections.size() + 1L);
            sections.add(new ElfFile.Section("." + address, 1, 6, address, code.position(), bytes.length, 0));
            code.put(bytes);
            blocks.add(new ExecutedBlock(0, address, instructions, count, taken));
        }

        CycleEstimate estimate(int machine, String cpu) {
            return CycleEstimator.estimate(elf(machine), blocks, CoreTables.require(cpu));
        }

        ElfFile elf(int machine) {
            return new ElfFile(code, machine, 0, sections, List.of(), List.of(), List.of());
        }
    }

    private static Map<String, Recorded> recorded(Map<String, Long> independent) throws IOException {
        Map<String, Recorded> models = new LinkedHashMap<>();
        String name = "";
        try (InputStream in = CycleEstimatorTest.class.getResourceAsStream("executed.txt")) {
            for (String line : new String(in.readAllBytes(), StandardCharsets.UTF_8).split("\n", -1)) {
                String[] words = line.split(" ", -1);
                if (line.startsWith("model ")) {
                    name = words[1];
                    independent.put(name, Long.parseLong(words[2]));
                    models.put(name, new Recorded());
                } else if (!line.isEmpty() && !line.startsWith("#")) {
                    models.get(name)
                            .add(
                                    Integer.parseInt(words[0]),
                                    Long.parseLong(words[1]),
                                    Long.parseLong(words[2]),
                                    words[3]);
                }
            }
        }
        return models;
    }

    @Test
    void theEstimateAgreesWithAnIndependentCount() throws IOException {
        Map<String, Long> independent = new LinkedHashMap<>();
        Map<String, Recorded> models = recorded(independent);
        assertThat(models).hasSize(3);
        models.forEach((name, model) -> {
            CycleEstimate estimate = model.estimate(ARM, "cortex-m4");
            assertThat(estimate.unknown()).isZero();
            assertThat(estimate.whole().cycles().expected())
                    .as(name)
                    .isCloseTo(independent.get(name), Percentage.withPercentage(0.5));
        });
    }

    /** Two issued together at best, one by one at worst. */
    @Test
    void coresThatIssueTwoHaveARange() throws IOException {
        Recorded kws = recorded(new LinkedHashMap<>()).get("kws");
        CycleRange m4 = kws.estimate(ARM, "cortex-m4").whole().cycles();
        CycleRange m7 = kws.estimate(ARM, "cortex-m7").whole().cycles();
        long instructions = kws.estimate(ARM, "cortex-m7").whole().instructions();
        assertThat(m7.low()).isBetween(instructions / 2, instructions - 1);
        assertThat(m7.high()).isGreaterThan(instructions);
        assertThat(m7.expected()).isLessThan(m4.expected());
        assertThat(m4.high() - m4.low()).isLessThan(m4.expected() / 50);
    }

    /** Encodings as objdump shows them, least byte first here. */
    @ParameterizedTest
    @CsvSource({
        // ldr r0,[r1]; ldr r2,[r1,#4]; ldr r3,[r1,#8]
        "cortex-m4, 40, 3, 08684a688b68, 4",
        // ldr r0,[r1],#4; ldr r2,[r1]: behind a write-back, and the base is a load's
        "cortex-m4, 40, 2, 51f8040b0a68, 4",
        // adds r1,#4; ldr r0,[r1]: the address is computed right before
        "cortex-m4, 40, 2, 04310868, 4",
        // str r0,[r1]; ldr r2,[r1]
        "cortex-m4, 40, 2, 08600a68, 2",
        // ldrd r0,r1,[r2]; ldmia.w r4,{r5,r6,r7,r8}; smlad r0,r1,r2,r3
        "cortex-m4, 40, 3, d2e9000194e8e00121fb0230, 9",
        // sdiv r0,r1,r2
        "cortex-m4, 40, 1, 91fbf2f0, 7",
        // mla r0,r1,r2,r3; smull r0,r1,r2,r3
        "cortex-m3, 40, 2, 01fb023082fb0301, 6",
        // pop {r4,pc}
        "cortex-m0, 40, 1, 10bd, 3",
        // lw a0,0(a1); add a0,a0,a1: the result comes a cycle late
        "rv32imac, 243, 2, 03a505003305b500, 3",
        // mul a0,a1,a2; add a0,a0,a1
        "rv32imac, 243, 2, 3385c5023305b500, 6",
        // movs r0,#1; movs r1,#2: two of 16 bits; then with a dependence: movs r0,#1; adds r1,r0,#2
        "cortex-m7, 40, 2, 01200221, 1",
        "cortex-m7, 40, 2, 0120811c, 2",
        // vldrw.u32 q3,[r0],#16; vmladava.s16 r2,q4,q5; vldrw.u32 q3,[r0],#16; vmladava.s16 r2,q4,q5: half of each is
        // hidden
        "cortex-m55, 40, 4, b0ec047ff8ee2a2eb0ec047ff8ee2a2e, 4",
        // vldrw.u32 q3,[r0],#16 twice: one pipeline
        "cortex-m55, 40, 2, b0ec047fb0ec047f, 4"
    })
    void aBlockTakesAsLongAsItsCoreSays(String cpu, int machine, int instructions, String hex, long cycles) {
        Recorded block = new Recorded();
        block.add(instructions, 1, 0, hex);
        CycleEstimate estimate = block.estimate(machine, cpu);
        assertThat(estimate.unknown()).isZero();
        assertThat(estimate.whole().cycles().expected()).isEqualTo(cycles);
    }

    @Test
    void takenBranchesAndReturnsCostMore() {
        Recorded loop = new Recorded();
        // subs r0,#1; bne .-2
        loop.add(2, 10, 9, "0138fdd1");
        assertThat(loop.estimate(ARM, "cortex-m4").whole().cycles()).isEqualTo(new CycleRange(29, 38, 47));
        assertThat(loop.estimate(ARM, "cortex-m0").whole().cycles()).isEqualTo(CycleRange.exactly(38));
        Recorded pop = new Recorded();
        pop.add(1, 1, 1, "10bd");
        assertThat(pop.estimate(ARM, "cortex-m0").whole().cycles()).isEqualTo(CycleRange.exactly(6));
        assertThat(pop.estimate(ARM, "cortex-m0plus").whole().cycles()).isEqualTo(CycleRange.exactly(5));
    }

    @Test
    void whatTheTableDoesNotHaveIsCountedAndPricedLikeAdditions() {
        Recorded block = new Recorded();
        // vadd.f32 s0,s1,s2 on a core without floating point
        block.add(1, 5, 0, "30ee810a");
        CycleEstimate estimate = block.estimate(ARM, "cortex-m3");
        assertThat(estimate.unknown()).isEqualTo(5);
        assertThat(estimate.whole().cycles().expected()).isEqualTo(5);
    }

    @Test
    void aBlockOutsideTheImageIsRefused() {
        assertThatThrownBy(() -> CycleEstimator.estimate(
                        new Recorded().elf(RISCV),
                        List.of(new ExecutedBlock(0, 0x80000000L, 3, 1, 0)),
                        CoreTables.require("rv32imac")))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("0x80000000");
    }
}
