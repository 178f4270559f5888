// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm.link;

import io.kiln.farm.link.FarmAccess.Store;
import java.io.IOException;
import java.net.Socket;
import java.security.GeneralSecurityException;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.Optional;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509ExtendedTrustManager;

/**
 * Judges a server as Java does, and by the dates of its certificate, and remembers what the server has shown and why it was refused. For one connection.
 */
final class SeenPeer extends X509ExtendedTrustManager {
    private final Optional<X509ExtendedTrustManager> judge;
    private Optional<X509Certificate> certificate = Optional.empty();
    private Optional<CertificateException> refusal = Optional.empty();

    private SeenPeer(Optional<X509ExtendedTrustManager> judge) {
        this.judge = judge;
    }

    /** Refuses everybody. */
    static SeenPeer trustingNobody() {
        return new SeenPeer(Optional.empty());
    }

    /** Trusts the certificates of a store. */
    static SeenPeer trusting(Store store) throws IOException, GeneralSecurityException {
        TrustManagerFactory factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        factory.init(FarmStores.load(store));
        return new SeenPeer(Optional.of((X509ExtendedTrustManager) factory.getTrustManagers()[0]));
    }

    /** What the server has shown. */
    Optional<X509Certificate> certificate() {
        return certificate;
    }

    /** Why it was refused; empty if it was not. */
    Optional<CertificateException> refusal() {
        return refusal;
    }

    /** A part of a judgement. */
    @FunctionalInterface
    private interface Judgement {
        void by(X509ExtendedTrustManager judge) throws CertificateException;
    }

    private void judge(X509Certificate[] chain, Judgement judgement) throws CertificateException {
        certificate = Optional.of(chain[0]);
        try {
            judgement.by(judge.orElseThrow(() -> new CertificateException("nobody is trusted")));
            Optional<String> trouble = PeerCertificate.trouble(chain[0], Instant.now());
            if (trouble.isPresent()) {
                throw new CertificateException(trouble.get());
            }
        } catch (CertificateException e) {
            refusal = Optional.of(e);
            throw e;
        }
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type, Socket socket) throws CertificateException {
        judge(chain, judge -> judge.checkServerTrusted(chain, type, socket));
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type, SSLEngine engine) throws CertificateException {
        judge(chain, judge -> judge.checkServerTrusted(chain, type, engine));
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type) throws CertificateException {
        judge(chain, judge -> judge.checkServerTrusted(chain, type));
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type, Socket socket) throws CertificateException {
        throw new CertificateException("only servers are judged");
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type, SSLEngine engine) throws CertificateException {
        throw new CertificateException("only servers are judged");
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type) throws CertificateException {
        throw new CertificateException("only servers are judged");
    }

    @Override
    public X509Certificate[] getAcceptedIssuers() {
        return judge.map(X509ExtendedTrustManager::getAcceptedIssuers).orElse(new X509Certificate[0]);
    }
}
