// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware.update;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.Bytes;
import io.kiln.base.Digests;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** MCUboot's format: {@code bootutil/image.h} and {@code docs/design.md} of MCUboot. */
class McubootImageTest {
    private static final Bytes CODE = Bytes.ofText("vectors and code.");

    @TempDir
    Path folder;

    @Test
    void headerAndTrailerAreWhereMcubootReadsThem() {
        byte[] file = McubootImage.of(CODE, new UpdateVersion(1, 2, 772), Optional.empty())
                .bytes()
                .toArray();
        ByteBuffer in = ByteBuffer.wrap(file).order(ByteOrder.LITTLE_ENDIAN);
        assertThat(in.getInt(0)).as("ih_magic").isEqualTo(0x96f3b83d);
        assertThat(in.getInt(4)).as("ih_load_addr").isZero();
        assertThat(in.getShort(8)).as("ih_hdr_size").isEqualTo((short) 512);
        assertThat(in.getShort(10)).as("ih_protect_tlv_size").isZero();
        assertThat(in.getInt(12)).as("ih_img_size").isEqualTo(CODE.size());
        assertThat(in.getInt(16)).as("ih_flags").isZero();
        assertThat(Arrays.copyOfRange(file, 20, 28)).as("ih_ver").containsExactly(1, 2, 4, 3, 0, 0, 0, 0);
        assertThat(Arrays.copyOfRange(file, 28, 512)).as("padding").containsOnly(0);
        assertThat(Arrays.copyOfRange(file, 512, 512 + CODE.size())).isEqualTo(CODE.toArray());
        int trailer = 512 + CODE.size();
        assertThat(in.getShort(trailer)).as("it_magic").isEqualTo((short) 0x6907);
        assertThat(in.getShort(trailer + 2)).as("it_tlv_tot").isEqualTo((short) (4 + 4 + 32));
        assertThat(in.getShort(trailer + 4)).as("IMAGE_TLV_SHA256").isEqualTo((short) 0x10);
        assertThat(in.getShort(trailer + 6)).isEqualTo((short) 32);
        assertThat(Arrays.copyOfRange(file, trailer + 8, file.length))
                .isEqualTo(Digests.newSha256().digest(Arrays.copyOf(file, trailer)));
    }

    @Test
    void aSignedImageNamesItsKey() {
        UpdateKey key = TestKeys.key(folder, 1);
        McubootImage image = McubootImage.of(CODE, new UpdateVersion(1, 0, 0), Optional.of(key));
        McubootImage read = McubootReader.read(image.bytes());
        assertThat(read).isEqualTo(image);
        assertThat(McubootReader.isSignedBy(read, key.publicBytes())).isTrue();
        assertThat(McubootReader.isSignedBy(read, TestKeys.key(folder, 2).publicBytes()))
                .isFalse();
        byte[] file = image.bytes().toArray();
        int trailer = 512 + CODE.size() + 4 + 36;
        assertThat(Arrays.copyOfRange(file, trailer, trailer + 4)).as("KEYHASH").containsExactly(1, 0, 32, 0);
        assertThat(Arrays.copyOfRange(file, trailer + 36, trailer + 40))
                .as("ED25519")
                .containsExactly(0x24, 0, 64, 0);
    }

    @Test
    void noDamagedImageIsRead() {
        byte[] right = McubootImage.of(CODE, new UpdateVersion(1, 0, 0), Optional.of(TestKeys.key(folder, 1)))
                .bytes()
                .toArray();
        int signatures = 512 + CODE.size() + 4 + 36;
        for (int length = 0; length < right.length; length++) {
            refuses(Arrays.copyOf(right, length));
        }
        for (int at = 0; at < signatures; at++) {
            byte[] damaged = right.clone();
            damaged[at] ^= (byte) 0x81;
            refuses(damaged);
        }
    }

    private static void refuses(byte[] file) {
        assertThatThrownBy(() -> McubootReader.read(Bytes.wrap(file))).isInstanceOf(IllegalArgumentException.class);
    }
}
