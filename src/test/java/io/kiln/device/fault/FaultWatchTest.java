// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.fault;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What the numbers mean; where they come from is tested with the emulator. */
class FaultWatchTest {
    private static final Path NO_IMAGE = Path.of("no-image.elf");

    private final FaultWatch watch = new FaultWatch(text -> {});

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "status 0x00008200, address 0x60000000 | without memory: address 0x60000000",
                "status 0x00000082, address 0x00000004 | not accessible: address 0x00000004",
                "status 0x00000400, address 0x12345678 | some instructions earlier",
                "status 0x02000000, address 0x00000000 | a division by zero",
                "status 0x00010000, address 0x00000000 | an undefined instruction",
            })
    void theStatusIsToldInWords(String numbers, String words) {
        watch.accept("kiln: exception 0x00000003 at 0x08000100, called from 0x08000201, " + numbers + "\r\n");
        String text = watch.problem(NO_IMAGE).orElseThrow().text();
        assertThat(text)
                .startsWith("0x08000100: the image stopped with a fault: ")
                .contains(words);
        assertThat(text.contains("KILN_PRECISE_WRITES")).isEqualTo(numbers.contains("0x00000400"));
        assertThat(text.contains("12345678")).isFalse();
    }

    @Test
    void aLineThatComesInPiecesIsToldOnce() {
        watch.accept("kiln: excep");
        watch.accept("tion 0x00000007 at 0x80000010, called from 0x80000020, address 0x00000000");
        assertThat(watch.problem(NO_IMAGE)).isEmpty();
        watch.accept("\n");
        assertThat(watch.take(NO_IMAGE).orElseThrow().text()).contains("a write at an address without writable memory");
        assertThat(watch.take(NO_IMAGE)).isEmpty();
    }

    @Test
    void anInterruptOfARiscVHartIsToldByItsNumber() {
        watch.accept("kiln: exception 0x8000000b at 0x80000010, called from 0x80000020, address 0x00000000\n");
        assertThat(watch.take(NO_IMAGE).orElseThrow().text()).contains("interrupt 11 of the hart has no handler");
    }

    @Test
    void anOverflowIsToldWithWhatIsKnown() {
        String fault = "kiln: exception 0x00000003 at 0x08000100, called from 0x08000201, status 0x00000082, address"
                + " 0x1ffffffc\n";
        watch.accept("kiln: stack overflow, 0x00002000 bytes used\n" + fault);
        assertThat(watch.take(NO_IMAGE).orElseThrow().text())
                .startsWith("0x08000100: the stack overflowed. Give it more: flags: {symbols: {__stack_size: 8K}}");
        watch.accept("kiln: stack overflow, 0x00000000 bytes used\n" + fault);
        assertThat(watch.take(NO_IMAGE).orElseThrow().text())
                .startsWith("0x08000100: the stack of a thread overflowed");
        watch.accept("kiln: stack overflow\n");
        assertThat(watch.take(NO_IMAGE).orElseThrow().text()).startsWith("the stack overflowed. Give it more");
        watch.accept(fault);
        assertThat(watch.take(NO_IMAGE).orElseThrow().text()).contains("the image stopped with a fault");
        watch.accept("kiln: stack overflow, 0x00001008 bytes used\n" + "kiln: on the stack 0xdeadbeef\n".repeat(3000));
        assertThat(watch.take(NO_IMAGE).orElseThrow().text()).startsWith("the stack overflowed");
    }

    @Test
    void aStackThatWentBelowItsBottomIsAProblem() {
        assertThat(new StackUse(4096, 4096).problem()).isEmpty();
        assertThat(new StackUse(1236, 4096).text()).isEqualTo("Stack: 1,236 of 4,096 bytes used");
        assertThat(new StackUse(4128, 4096).problem().orElseThrow().text())
                .contains("at least 4,128 of 4,096 bytes were used", "__stack_size: 8K", "default: 4K");
    }

    @Test
    void otherTextIsNoFault() {
        watch.accept("kiln: exception 3 at noon\nkiln: ready, exception 0x00000003\nx".repeat(1000) + "\n");
        assertThat(watch.problem(NO_IMAGE)).isEmpty();
    }
}
