// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm.link;

import io.kiln.base.Failure;
import io.kiln.base.Problems;
import io.kiln.farm.link.FarmAccess.Store;
import java.io.IOException;
import java.nio.file.Files;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.UnrecoverableKeyException;
import java.security.cert.Certificate;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** Opens a member's stores before a connection does: by then, every fault of a store looks like a broker that does not answer. */
public final class FarmStores {
    static final String FORMAT = "PKCS12";

    private FarmStores() {}

    /** Adds what is wrong with the store of a member's own key, or the broker's, at a point in time. */
    static void requireKeys(Problems problems, Store store, Instant now) {
        List<X509Certificate> own = certificates(problems, store, "kiln.farm.keyStore", true);
        for (X509Certificate certificate : own) {
            PeerCertificate.trouble(certificate, now)
                    .ifPresent(why -> problems.add(
                            "the certificate " + PeerCertificate.name(certificate) + " " + why,
                            "kiln.farm.keyStore " + store.file(),
                            "a certificate that is valid today",
                            "Make another one and give it to those who trust this one; the page \"Operate a"
                                    + " farm\" says how"));
        }
    }

    /** Adds what is wrong with a store of certificates that a member trusts. */
    static void requireTrust(Problems problems, Store store) {
        certificates(problems, store, "kiln.farm.trustStore", false);
    }

    /** The end of the validity of the certificate with which a store's owner proves who it is; empty if there is none. */
    public static Optional<Instant> end(Store store) {
        return certificates(new Problems(Failure.FARM), store, "", true).stream()
                .map(certificate -> certificate.getNotAfter().toInstant())
                .min(Instant::compareTo);
    }

    private static List<X509Certificate> certificates(
            Problems problems, Store store, String parameter, boolean areOwn) {
        String where = parameter + " " + store.file();
        if (!Files.isReadable(store.file())) {
            problems.add("cannot be read", where, "a PKCS #12 file");
            return List.of();
        }
        try {
            List<X509Certificate> found = certificates(load(store), areOwn);
            if (found.isEmpty()) {
                problems.add(
                        areOwn ? "there is no key in it" : "there is no certificate to trust in it",
                        where,
                        areOwn
                                ? "a key with its certificate"
                                : "certificates without keys, or those of whoever signed them",
                        "keytool -list -keystore FILE shows what it has");
            }
            return found;
        } catch (IOException e) {
            boolean isPassword = e.getCause() instanceof UnrecoverableKeyException;
            problems.add(
                    isPassword ? "its password is another one" : "not a store: " + e.getMessage(),
                    where,
                    isPassword ? "the password that keytool was given" : "a PKCS #12 file",
                    isPassword ? "Set " + parameter + "Password" : "");
        } catch (GeneralSecurityException e) {
            problems.add("not a store: " + e.getMessage(), where, "a PKCS #12 file");
        }
        return List.of();
    }

    /**
     * TLS of somebody with these stores.
     *
     * @throws IOException if a store cannot be read
     * @throws GeneralSecurityException if one is of no use
     */
    public static SSLContext context(FarmAccess access) throws IOException, GeneralSecurityException {
        TrustManagerFactory trusted = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trusted.init(load(access.trust().orElseThrow()));
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(keys(access), trusted.getTrustManagers(), null);
        return context;
    }

    static KeyManager[] keys(FarmAccess access) throws IOException, GeneralSecurityException {
        if (access.keys().isEmpty()) {
            return new KeyManager[0];
        }
        KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        keys.init(load(access.keys().get()), access.keys().get().password().toCharArray());
        return keys.getKeyManagers();
    }

    static KeyStore load(Store store) throws IOException, GeneralSecurityException {
        return KeyStore.getInstance(store.file().toFile(), store.password().toCharArray());
    }

    private static List<X509Certificate> certificates(KeyStore store, boolean areOwn) throws GeneralSecurityException {
        List<X509Certificate> found = new ArrayList<>();
        for (String alias : Collections.list(store.aliases())) {
            Certificate certificate = store.getCertificate(alias);
            boolean isWanted = areOwn ? store.isKeyEntry(alias) : store.isCertificateEntry(alias);
            if (isWanted && certificate instanceof X509Certificate known) {
                found.add(known);
            }
        }
        return found;
    }
}
