// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.state;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.flow.state.UpToDate.VerifyRecord;
import io.kiln.report.Json;
import io.kiln.report.JsonSchemas;
import io.kiln.report.VerifyReport;
import io.kiln.report.VerifyReport.Tolerance;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class VerifyRecordTest {
    private static final VerifyReport GREEN = new VerifyReport(
            "b", "qemu", 0, List.of(new VerifyReport.Case("random_0", 4, 0, 0)), true, true, Tolerance.NONE, "");

    @TempDir
    Path folder;

    private Layout layout;
    private Path json;
    private Path xml;

    @BeforeEach
    void greenFromLastTime() {
        layout = new Layout(folder, folder.resolve("out"), "m");
        json = layout.reports().resolve("verify.json");
        xml = layout.reports().resolve("TEST-kiln-verify.xml");
        VerifyRecord.keep(layout, Log.QUIET, "test", record -> record.write(GREEN, List.of(Duration.ZERO)));
        assertThat(read().passed()).isTrue();
    }

    @Test
    void whileItRunsNothingIsGreen() {
        VerifyRecord.keep(layout, Log.QUIET, "test", record -> {
            assertRed("has not finished");
            record.about("b", "qemu", 7);
            record.begin();
            assertThat(read().board()).isEqualTo("b");
            record.write(GREEN, List.of(Duration.ZERO));
        });
        assertThat(read()).isEqualTo(GREEN);
    }

    @Test
    void whateverEndsItLeavesRed() {
        for (Throwable failure : List.of(
                new KilnException(Failure.PROJECT.problem("qemu-system-arm is not there", "PATH")),
                new IllegalStateException("a bug"),
                new StackOverflowError())) {
            VerifyRecord.keep(layout, Log.QUIET, "test", record -> record.write(GREEN, List.of(Duration.ZERO)));
            assertThatThrownBy(() -> VerifyRecord.keep(layout, Log.QUIET, "test", record -> throwIt(failure)))
                    .isSameAs(failure);
            assertRed(UnforeseenFailure.told(failure).getMessage());
        }
    }

    @Test
    void aFailureBehindTheCheckForChangesIsRedToo() {
        assertThatThrownBy(() -> VerifyRecord.keep(layout, Log.QUIET, "test", record -> {
                    record.restore();
                    assertThat(read()).isEqualTo(GREEN);
                    throw new IllegalStateException("late");
                }))
                .isInstanceOf(IllegalStateException.class);
        assertRed("late");
    }

    @Test
    void whatWasRecordedWithCasesStays() {
        VerifyReport red = new VerifyReport(
                "b",
                "qemu",
                0,
                List.of(new VerifyReport.Case("random_0", 4, 1, 2)),
                false,
                false,
                Tolerance.NONE,
                "1 of 4");
        assertThatThrownBy(() -> VerifyRecord.keep(layout, Log.QUIET, "test", record -> {
                    record.write(red, List.of(Duration.ZERO));
                    throw new KilnException(Failure.PROJECT.problem("1 of 4", "random_0"));
                }))
                .isInstanceOf(KilnException.class);
        assertThat(read()).isEqualTo(red);
    }

    @Test
    void whatNeedsNoVerificationStaysAsItWas() throws IOException {
        byte[] before = Files.readAllBytes(json);
        VerifyRecord.keep(layout, Log.QUIET, "test", VerifyRecord::leave);
        assertThat(json).hasBinaryContent(before);
        assertThat(xml).content().contains("failures=\"0\" errors=\"0\"");
        VerifyRecord.removeReports(layout);
        VerifyRecord.keep(layout, Log.QUIET, "test", VerifyRecord::leave);
        assertThat(json).doesNotExist();
        assertThat(xml).doesNotExist();
    }

    private static void throwIt(Throwable failure) {
        if (failure instanceof Error error) {
            throw error;
        }
        throw (RuntimeException) failure;
    }

    private void assertRed(String why) {
        try {
            JsonSchemas.assertFits("verify", Files.readString(json));
            assertThat(read().passed()).isFalse();
            assertThat(read().bitExact()).isFalse();
            assertThat(read().failure()).contains(why);
            assertThat(xml).content().contains("errors=\"1\"");
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private VerifyReport read() {
        return Json.read(json, VerifyReport.class);
    }
}
