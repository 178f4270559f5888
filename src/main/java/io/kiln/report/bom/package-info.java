// SPDX-License-Identifier: Apache-2.0
/** What is in an image, with licences (CycloneDX, a notice), and from what it was built (a provenance statement of SLSA). */
package io.kiln.report.bom;
