// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.farm.link.FarmAddress.FarmAccess;
import io.kiln.farm.link.FarmAddress.FarmAccess.Store;
import io.kiln.process.Command;
import io.kiln.process.ProcessRunner;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/**
 * Stores of a farm with TLS: the keys of a broker, of a member and of a stranger, and stores that trust the broker ({@code brokers}) and the member
 * ({@code members}).
 *
 * @param folder of the stores
 */
public record FarmKeys(Path folder) {
    private static final String SECRET = "changeit";

    /** Deriving keys from the password 10000 times over would take a quarter of what tests of farms take. */
    private static final List<String> QUICK = List.of(
            "-J-XX:TieredStopAtLevel=1",
            "-J-XX:+UseSerialGC",
            "-J-Dkeystore.pkcs12.macIterationCount=1",
            "-J-Dkeystore.pkcs12.certPbeIterationCount=1",
            "-J-Dkeystore.pkcs12.keyPbeIterationCount=1");

    /** Makes them. */
    public static FarmKeys make(Path folder) throws IOException, GeneralSecurityException {
        FarmKeys keys = new FarmKeys(folder);
        for (String name : List.of("broker", "member", "stranger")) {
            keys.pair(name, "localhost");
        }
        keys.trust("members", "member");
        keys.trust("brokers", "broker");
        return keys;
    }

    /** A store with a key, whose certificate is valid for two days, or as further arguments of keytool say. */
    void pair(String name, String host, String... more) {
        List<String> arguments = new ArrayList<>(List.of(
                "-genkeypair",
                "-alias",
                name,
                "-keyalg",
                "EC",
                "-dname",
                "CN=" + name,
                "-validity",
                "2",
                "-ext",
                "SAN=dns:" + host,
                "-keystore",
                store(name).file().toString()));
        arguments.addAll(List.of(more));
        keytool(arguments);
    }

    /** A store that trusts one certificate. */
    void trust(String store, String whom) throws IOException, GeneralSecurityException {
        KeyStore trusting = KeyStore.getInstance("PKCS12");
        trusting.load(null, null);
        trusting.setCertificateEntry(whom, load(whom).getCertificate(whom));
        try (OutputStream out = Files.newOutputStream(store(store).file())) {
            trusting.store(out, SECRET.toCharArray());
        }
    }

    private KeyStore load(String name) throws IOException, GeneralSecurityException {
        return KeyStore.getInstance(store(name).file().toFile(), SECRET.toCharArray());
    }

    private static void keytool(List<String> arguments) {
        String program =
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString();
        List<String> all = new ArrayList<>(QUICK);
        all.addAll(arguments);
        all.addAll(List.of("-storetype", "PKCS12", "-storepass", SECRET));
        assertThat(ProcessRunner.run(Command.of(program, all)).exitCode()).isZero();
    }

    Store store(String name) {
        return new Store(folder.resolve(name + ".p12"), SECRET);
    }

    /** Access by a store of keys and a store of trusted certificates. */
    public FarmAccess access(String keys, String trust, Optional<String> password) {
        return new FarmAccess(Optional.of(store(keys)), Optional.of(store(trust)), password);
    }

    /** A member without a certificate. */
    FarmAccess password(String password) {
        return new FarmAccess(Optional.empty(), Optional.of(store("brokers")), Optional.of(password));
    }

    /** TLS of somebody who has the member's certificate. */
    SSLContext members() throws IOException, GeneralSecurityException {
        return context("member", "brokers");
    }

    /** TLS of somebody, whom the JDK serves as it is. */
    SSLContext context(String name, String trust) throws IOException, GeneralSecurityException {
        KeyManagerFactory own = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        own.init(load(name), SECRET.toCharArray());
        TrustManagerFactory trusted = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trusted.init(load(trust));
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(own.getKeyManagers(), trusted.getTrustManagers(), null);
        return context;
    }
}
