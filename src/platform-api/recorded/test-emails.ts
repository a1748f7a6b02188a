import type * as public_ from "@neondatabase/api-client";
import * as z from "zod";
import { email } from "../http/request-fields.ts";
import { recorded } from "./recorded-operation.ts";

/** S: the result of a test email. A: standin calls no email server, so each fails and says why. */
const notSent = () =>
  ({
    success: false,
    error_message: "standin sends no emails",
  }) satisfies public_.SendNeonAuthTestEmailResponse;

export const TEST_EMAIL_OPERATIONS = [
  recorded({
    route: "POST /auth/send_test_email",
    kind: "authEmailProvider",
    does: "read",
    body: z.object({
      host: z.string(),
      port: z.int(),
      username: z.string(),
      password: z.string(),
      sender_email: z.string(),
      sender_name: z.string(),
      recipient_email: email,
    }),
    answer: notSent,
  }),
  // C: the same with the stored email provider.
  recorded({
    route: "POST /auth/email_provider/test",
    kind: "authEmailProvider",
    does: "read",
    body: z.object({ recipient_email: email }),
    answer: notSent,
  }),
];
