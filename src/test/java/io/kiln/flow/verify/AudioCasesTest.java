// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.verify;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.KilnException;
import io.kiln.base.WholeFiles;
import io.kiln.flow.verify.VerificationCases.AudioCases;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AudioCasesTest {
    @TempDir
    private Path folder;

    @Test
    void recordingsAreAloneIfThereIsNoVector() {
        assertThat(AudioCases.areAlone(folder)).isFalse();
        WholeFiles.write(folder.resolve("audio_0.wav"), "");
        WholeFiles.write(folder.resolve("audio_01.wav"), "");
        assertThat(AudioCases.areAlone(folder)).isTrue();
        WholeFiles.write(folder.resolve("input_0.bin"), "");
        assertThat(AudioCases.areAlone(folder)).isFalse();
    }

    /** Which of them is heard would depend on the file system. */
    @Test
    void twoRecordingsOfOneNumberAreRefused() {
        WholeFiles.write(folder.resolve("audio_7.wav"), "");
        WholeFiles.write(folder.resolve("audio_7.bin"), "");
        assertThatThrownBy(() -> AudioCases.areAlone(folder))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("audio_7.bin and audio_7.wav have the same number");
    }
}
