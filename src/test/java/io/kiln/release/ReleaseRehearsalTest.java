// SPDX-License-Identifier: Apache-2.0
package io.kiln.release;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.docs.RealMaven;
import io.kiln.process.ProcessRunner.ProcessResult;
import io.kiln.process.TestPrograms;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/** A release as it is made, with a key that is thrown away: its bundle is complete, and another checkout gives the same bytes. */
@EnabledIfSystemProperty(named = "kiln.golden", matches = "all")
class ReleaseRehearsalTest {
    private static final String KEY = "gpg --batch --quiet --pinentry-mode loopback --passphrase ''"
            + " --quick-gen-key 'Nobody <nobody@example.com>' ed25519 sign never\n";

    @TempDir
    private Path folder;

    @Test
    void theBundleIsCompleteAndTwoBuildsAreEqual() throws IOException {
        TestPrograms.need("gpg");
        RealMaven maven = RealMaven.in(folder);
        ProcessResult key = maven.run("mkdir -m 700 -p ~/.gnupg\n" + KEY, folder);
        assertThat(key.exitCode()).as(key.message()).isZero();
        ReleaseBundle one = bundle(maven, "one");
        assertThat(one.problems()).isEmpty();
        assertThat(unsigned(bundle(maven, "two"))).isEqualTo(unsigned(one));
    }

    private ReleaseBundle bundle(RealMaven maven, String name) throws IOException {
        Path checkout = RealMaven.checkout(folder.resolve(name));
        Path pom = checkout.resolve("pom.xml");
        Files.writeString(
                pom,
                Files.readString(pom)
                        .replace("<version>" + RealMaven.VERSION + "</version>", "<version>1.0.0</version>")
                        .replace("<tag>HEAD</tag>", "<tag>v1.0.0</tag>"));
        ProcessResult result =
                maven.run("mvn -Prelease -Dmaven.test.skip -Dgpg.keyname=nobody@example.com deploy", checkout);
        assertThat(result.exitCode()).as(result.message()).isZero();
        return ReleaseBundle.read(checkout.resolve("target/release-bundle.zip"));
    }

    /** Digests of all files but the signatures, which differ by their time. */
    private static SortedMap<String, String> unsigned(ReleaseBundle bundle) {
        SortedMap<String, String> digests = new TreeMap<>();
        for (Map.Entry<String, byte[]> file : bundle.files().entrySet()) {
            if (!file.getKey().contains(".asc")) {
                digests.put(file.getKey(), ReleaseBundle.digest("SHA-256", file.getValue()));
            }
        }
        assertThat(digests).hasSizeGreaterThan(20);
        return digests;
    }
}
