// SPDX-License-Identifier: Apache-2.0
package io.kiln.target;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.KilnException;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class TargetTest {
    @ParameterizedTest
    @ValueSource(
            strings = {
                "c -keys=cpu",
                "c -keys=arm_cpu,cpu -mcpu=cortex-m7 -model=stm32f746xx",
                "c -keys=arm_cpu,cpu -device=arm_cpu -link-params=0 -mcpu=cortex-m4 -model=cxd5602gg",
                "cmsis-nn -keys=arm_cpu,cpu -mcpu=cortex-m55",
                "llvm -keys=cpu -libs=a,b -mtriple=x86_64-linux-gnu"
            })
    void canonicalStringsPrintAsTheyAre(String text) {
        assertThat(Target.parse(text).text()).isEqualTo(text);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "c|c -keys=cpu",
                "  c   --mcpu=cortex-m7|c -keys=arm_cpu,cpu -mcpu=cortex-m7",
                "c -mcpu cortex-m33+nodsp -model x|c -keys=arm_cpu,cpu -mcpu=cortex-m33+nodsp -model=x",
                "c -system-lib -march=rv32imac|c -keys=cpu -march=rv32imac -system-lib=1",
                "c -keys=riscv,cpu -march=rv32imac|c -keys=riscv,cpu -march=rv32imac",
                "c -keys=mine -mcpu=cortex-m0|c -keys=mine,arm_cpu,cpu -mcpu=cortex-m0",
                "c -device=arm_cpu|c -keys=arm_cpu,cpu -device=arm_cpu",
                "c -keys=a,a,b|c -keys=a,b",
                "c -model= -tag=x -host=llvm|c -keys=cpu",
                "c -model=a=b|c -keys=cpu -model=a=b"
            })
    void otherFormsPrintCanonically(String text, String canonical) {
        assertThat(Target.parse(text).text()).isEqualTo(canonical);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "c -model='a\n#error'",
                "c -model=a\n#error",
                "c -model=a\r#error",
                "c -model=a\\",
                "c -model=a*/",
                "c -model=a//",
                "c -model=??/",
                "c -model='a b'",
                "c -model=\"a\"",
                "c -model=a\t-libs=b",
                "c -model=\u001b[2J",
                "c -model=\u202ea",
                "c -model=gr\u00f6\u00dfe",
                "c -model=a;b",
                "c -model=$(a)",
                "c -model=\ud835\udefc",
                "c\u00a0-model=a",
                "c -model=a\n"
            })
    void nothingOutsideTheGrammarIsATarget(String text) {
        assertThatThrownBy(() -> Target.parse(text))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("is not allowed in a target");
        String value = text.substring(text.indexOf('=') + 1);
        if (text.startsWith("c -model=") && !value.contains(" -")) {
            TreeMap<String, String> attributes = new TreeMap<>(Map.of("model", value));
            assertThatThrownBy(() -> new Target(TargetKind.C, List.of(), attributes))
                    .isInstanceOf(KilnException.class);
        }
    }

    @Test
    void everythingWrongIsSaidAtOnceWithItsColumn() {
        assertThatThrownBy(() -> Target.parse("c -mcpu=cortex-m9 -nonsense=1 stray -model=a -model=b -march=rv99"))
                .isInstanceOfSatisfying(
                        KilnException.class, e -> assertThat(e.problems()).hasSize(5))
                .hasMessageContaining("column 3: unknown CPU `cortex-m9`; expected one of cortex-m0")
                .hasMessageContaining("column 19: target kind `c` has no attribute `-nonsense`")
                .hasMessageContaining("column 31: `stray` is not an attribute")
                .hasMessageContaining("column 46: `-model` is given twice")
                .hasMessageContaining("column 55: `rv99` is not a RISC-V architecture");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "''|the target is empty",
                "cuda|unknown target kind `cuda`",
                "cmsis-nn -mcpu=cortex-m55, c -mcpu=cortex-m55|composite targets",
                "cmsis-nn,c -mcpu=cortex-m55|unknown target kind `cmsis-nn,c`",
                "c -model='x|column 10: `'` is not allowed in a target; expected letters and digits of ASCII",
                "c -keys=a b|`b` is not an attribute",
                "c -keys=a,,b|`-keys` is `a,,b`",
                "c -|`-` is not an attribute",
                "c -workspace-byte-alignment=12|expected a power of two",
                "c -=3|has no attribute `-`"
            })
    void badTargetsAreExplained(String text, String message) {
        assertThatThrownBy(() -> Target.parse(text))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining(message.replace("''", "'"));
    }

    @Test
    void whatIsPrintedReadsBackEqual() {
        Random random = new Random(11);
        List<String> names = List.of("mcpu", "march", "model", "libs", "device", "mattr", "from_device");
        for (int round = 0; round < 2000; round++) {
            TreeMap<String, String> attributes = new TreeMap<>();
            names.forEach(name -> {
                if (random.nextBoolean()) {
                    attributes.put(name, randomText(random, name.equals("device")));
                }
            });
            List<String> keys = IntStream.range(0, random.nextInt(3))
                    .mapToObj(i -> "k" + random.nextInt(4))
                    .distinct()
                    .toList();
            Target target = new Target(random.nextBoolean() ? TargetKind.C : TargetKind.LLVM, keys, attributes);

            assertThat(Target.parse(target.text())).as(target.text()).isEqualTo(target);
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "c -mcpu=cortex-m0|CORTEX_M|32|",
                "c -mcpu=cortex-m23|CORTEX_M|32|divide",
                "c -mcpu=cortex-m3|CORTEX_M|32|long_multiply divide unaligned_access",
                "c -mcpu=cortex-m4|CORTEX_M|32|dsp fpu long_multiply divide unaligned_access",
                "c -mcpu=cortex-m4+nofp|CORTEX_M|32|dsp long_multiply divide unaligned_access",
                "c -mcpu=cortex-m7|CORTEX_M|32|dsp fpu double_fpu long_multiply divide unaligned_access",
                "c -mcpu=cortex-m33+nodsp -mfloat-abi=soft|CORTEX_M|32|long_multiply divide unaligned_access",
                "c -mcpu=cortex-m33 -mattr=+nodsp|CORTEX_M|32|fpu long_multiply divide unaligned_access",
                "c -mcpu=cortex-m55|CORTEX_M|32|dsp mve fpu double_fpu long_multiply divide unaligned_access",
                "c -mcpu=cortex-m55+nomve|CORTEX_M|32|dsp fpu double_fpu long_multiply divide unaligned_access",
                "c -mcpu=cortex-m55+nodsp|CORTEX_M|32|fpu double_fpu long_multiply divide unaligned_access",
                "c -mcpu=cortex-m85 -mattr=+nomve,+nodsp|CORTEX_M|32|fpu double_fpu long_multiply divide unaligned_access",
                "c -march=rv32imac|RISCV|32|long_multiply divide",
                "c -march=rv64gc|RISCV|64|fpu double_fpu long_multiply divide",
                "c -march=rv32e|RISCV|32|",
                "c -march=rv32imc_zba_zbb|RISCV|32|long_multiply divide",
                "llvm -mcpu=generic-rv32 -mtriple=riscv32-unknown-elf|RISCV|32|",
                "c|HOST|64|fpu double_fpu long_multiply divide unaligned_access",
                "c -mcpu=esp32|OTHER|32|"
            })
    void featuresFollowFromTheTarget(String text, CpuFeatures.Family family, int bits, String names) {
        Set<CpuFeatures.Feature> features = Stream.ofNullable(names)
                .flatMap(all -> Stream.of(all.split(" ")))
                .map(name -> CpuFeatures.Feature.valueOf(name.toUpperCase(Locale.ROOT)))
                .collect(Collectors.toSet());
        assertThat(Target.parse(text).features()).isEqualTo(new CpuFeatures(family, bits, features));
    }

    private static String randomText(Random random, boolean name) {
        String alphabet = name ? "abc_1" : "ab-=,+.Z9_";
        return IntStream.range(0, 1 + random.nextInt(6))
                .mapToObj(i -> String.valueOf(alphabet.charAt(random.nextInt(alphabet.length()))))
                .collect(Collectors.joining());
    }

    @Test
    void aTargetSaysThroughWhichCacheItsCodeRuns() {
        assertThat(Target.parse("c -mcpu=cortex-m4 -i-cache-size=1024")
                        .features()
                        .cache())
                .contains(new InstructionCache(1024, 32));
        assertThat(Target.parse("llvm -mcpu=cortex-m4 -i-cache-size=8192 -i-cache-line-size=16")
                        .features()
                        .cache())
                .contains(new InstructionCache(8192, 16));
        assertThat(Target.parse("c -mcpu=cortex-m4 -i-cache-size=0").features())
                .isEqualTo(Target.parse("c -mcpu=cortex-m4").features());
        assertThatThrownBy(() -> Target.parse("c -i-cache-size=100 -i-cache-line-size=24"))
                .hasMessageContaining("`-i-cache-size` is `100`")
                .hasMessageContaining("`-i-cache-line-size` is `24`");
    }
}
