import DefaultTheme from 'vitepress/theme';
import Explain from './Explain.vue';
import './style.css';

export default {
  extends: DefaultTheme,
  enhanceApp({ app }) {
    app.component('explain', Explain);
  },
};
